"""The options of `moonpad verify`, one group for each of its runs. Their texts are what --help shows.

They stand apart from what the runs do, whose modules are heavy: --help must be quick.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


@Parameter(name="*", group="The probes")
@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    only: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None
    """Ids of the probes to run, as the table names them. raw_calls, needle and tool_long run only when named."""
    raw: Annotated[bool, Parameter(negative=())] = False
    """Judge the model's own text of a tool call, for a server that parses none: --only raw_calls."""
    repeat: int = 1
    """Ask everything so many times. A probe that fails once has failed."""
    fail_fast: Annotated[bool, Parameter(negative=())] = False
    """Ask nothing more once a probe has failed."""
    junit: Path | None = None
    """Write the verdict to this file too, as JUnit's XML."""

    @property
    def ids(self) -> tuple[str, ...]:
        return (*(self.only or ()), *(("raw_calls",) if self.raw else ()))


QUICK_SET = ProbeOptions()


@Parameter(name="*", group="An agent's loop instead")
@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOptions:
    loop: int | None = None
    """So many calls of a tool in a row, say 300, and the turn at which the model drifts. --out FOLDER again goes on."""
    seed: int = 0
    """Another seed is another row of pages."""


NO_LOOP = LoopOptions()


@Parameter(name="*", group="Moonshot's vendor verifier instead")
@dataclass(frozen=True, slots=True, kw_only=True)
class VendorOptions:
    vendor: str | None = None
    """A file of requests, one JSON object a line, or "own" for 500 of ours. --out FILE again asks what is missing."""
    reference: Path | None = None
    """The results of a reference endpoint, to compare when tools are called."""
    floor: float | None = None
    """The least trigger similarity, 0.73 for K2-Thinking by Moonshot."""
    concurrency: int = 5
    """Requests at a time."""
    stream: bool | None = None
    """Ask for streams, or for none; without it, as each request says."""


NO_VENDOR = VendorOptions()


@Parameter(name="*", group="The numbers instead")
@dataclass(frozen=True, slots=True, kw_only=True)
class NumericsOptions:
    numerics: Annotated[bool, Parameter(negative=())] = False
    """Compare the log-probabilities of fixed texts: with --against, or for kimi-k2-tiny with an oracle's."""
    record: Path | None = None
    """Write the log-probabilities of this endpoint, which you trust, to this file."""
    against: Path | None = None
    """Such a file, of the same model on another configuration."""


NO_NUMERICS = NumericsOptions()
