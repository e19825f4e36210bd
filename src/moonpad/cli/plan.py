"""`moonpad plan`: what fits on a cluster, why, and what to type."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from moonpad.cli.output import Json
from moonpad.values.errors import UsageError


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What `plan` and `init` plan for. The texts are what --help shows."""

    on: str | None = None
    """A cluster, like 8xH200 or 2x8xH800; without it, this machine."""
    engine: str | None = None
    """One engine, or auto for all."""
    engine_version: str | None = None
    """Its version; without it, the newest that moonpad knows."""
    goal: Literal["latency", "throughput", "context"] | None = None
    """What comes first; without it, latency."""
    context: str | None = None
    """Tokens of the longest sequence, like 32768 or 128k; without it, the most that fits."""
    concurrency: int | None = None
    """Sequences of that length to hold at once."""
    words: Annotated[list[str] | None, Parameter(name="--set", consume_multiple=True, allow_leading_hyphen=False)] = (
        None
    )
    """key=value of the layout (tp, pp, dp, ep, dcp) or of the settings, by the engine's names or ours."""


def plan(
    spec: Path | None = None,
    *,
    model: str | None = None,
    options: PlanOptions = PlanOptions(),
    every: Annotated[bool, Parameter(name="--all")] = False,
    from_log: Path | None = None,
    no_keep: bool = False,
    row: bool = False,
    json: Json = False,
) -> None:
    """Say what fits on a cluster, why, and what to type. Exit 3 where nothing fits.

    With --from-log: what the start in an engine's log measured, beside what is planned for the same.

    Parameters
    ----------
    spec
        A moonpad.toml; what it says is fixed, and options override it.
    model
        A name of the catalogue, or a checkpoint's folder.
    every
        Every legal layout, and by how much the others miss.
    from_log
        The log of a start, of vLLM or SGLang and of any machine; `-` is the standard input. At most 16 MB. What it
        measured is kept, and the next plan of the same uses it. --model, --on, --engine, --engine-version and --set
        say what the log does not.
    no_keep
        Show what a log measured, and do not keep it.
    row
        Print what a log measured as a row of the catalogue, for a contribution.
    """
    if from_log is not None:
        if spec is not None or every or options.goal or options.concurrency is not None:
            raise UsageError("--from-log takes no spec, and none of --all, --goal and --concurrency")
        from moonpad.cli.plan_from_log import run_from_log

        run_from_log(from_log, model, options, keep=not no_keep and not row, row=row, json=json)
        return
    if no_keep or row:
        raise UsageError(f"{'--row' if row else '--no-keep'} goes with --from-log")
    if spec is None and model is None:
        raise UsageError(
            "what is to be planned?", remedy="name a spec, --model moonshotai/Kimi-K2-Thinking, or --from-log FILE"
        )
    from moonpad.cli.plan_run import run_plan

    run_plan(spec, model, options, every=every, json=json)
