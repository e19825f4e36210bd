"""The options of `moonpad verify`, one group for each of its runs. Their texts are what --help shows.

The modules of the runs are heavy, and --help must be quick: so the options are in a module of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


@Parameter(name="*", group="The probes")
@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeOptions:
    only: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None
    """The ids of the probes to run, as in the table. raw_calls, needle and tool_long run only when named."""
    raw: bool = False
    """Judge the model's own text of a tool call, for a server without a parser: --only raw_calls."""
    repeat: int = 1
    """Run the probes this many times. A probe that fails once has failed."""
    fail_fast: bool = False
    """Stop at the first probe that fails."""
    junit: Path | None = None
    """Also write the verdict to this file, as JUnit XML."""

    @property
    def ids(self) -> tuple[str, ...]:
        return (*(self.only or ()), *(("raw_calls",) if self.raw else ()))


@Parameter(name="*", group="The agent loop instead")
@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOptions:
    loop: int | None = None
    """Make this many tool calls in a row, say 300; find the turn at which the model drifts. --out FOLDER continues."""
    seed: int = 0
    """Another seed gives other pages."""


@Parameter(name="*", group="Moonshot's vendor verifier instead")
@dataclass(frozen=True, slots=True, kw_only=True)
class VendorOptions:
    vendor: str | None = None
    """A file of requests, one JSON object a line, or "own" for 500 generated ones. --out FILE continues."""
    reference: Path | None = None
    """The results file of a reference endpoint, for the trigger similarity."""
    floor: float | None = None
    """The least trigger similarity; Moonshot accepts 0.73 for K2-Thinking."""
    concurrency: int = 5
    """Requests at once."""
    stream: Annotated[bool | None, Parameter(negative="--no-stream")] = None
    """Ask for streams only, or for whole answers only; without it, as each request says."""


@Parameter(name="*", group="The numbers instead")
@dataclass(frozen=True, slots=True, kw_only=True)
class NumericsOptions:
    numerics: bool = False
    """Compare the log-probabilities of fixed texts with those of --against, or for kimi-k2-tiny with the oracle's."""


@Parameter(name="*", group="Recordings, of the probes' answers or with --numerics of the numbers")
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingOptions:
    record: Path | None = None
    """Write to this file what the model behind this endpoint, which you trust, answers."""
    against: Path | None = None
    """A file that --record wrote, for the same model elsewhere. kimi-k2-tiny has recordings without it."""
