"""`moonpad plan`: what fits on a cluster, why, and what to type."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from moonpad.cli.asked_load import LoadOptions
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
    goal: Literal["latency", "throughput", "context", "cost"] | None = None
    """What comes first; without it, latency. cost needs --workload and --price."""
    context: str | None = None
    """Tokens of the longest sequence, like 32768 or 128k; without it, the most that fits."""
    concurrency: int | None = None
    """Sequences of that length to hold at once."""
    layout: str | None = None
    """Exactly this layout, as the table writes it: TP8, "TP4 DP2 EP8"; a size that it does not name is 1."""
    words: Annotated[list[str] | None, Parameter(name="--set", consume_multiple=True, allow_leading_hyphen=False)] = (
        None
    )
    """key=value of the layout (tp, pp, dp, ep, dcp) or of the settings, by the engine's names or ours."""


def plan(
    spec: Path | None = None,
    *,
    model: str | None = None,
    options: PlanOptions = PlanOptions(),
    load: LoadOptions = LoadOptions(),
    prefill: str | None = None,
    decode: str | None = None,
    every: Annotated[bool, Parameter(name="--all")] = False,
    report: Path | None = None,
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
    prefill
        With --decode and --workload: servers that compute prompts alone, as "2x TP4 EP4", beside others that decode.
    decode
        The servers that decode, as "1x TP16 EP16".
    every
        Every legal layout, and by how much the others miss.
    report
        With --workload: write a page that draws tokens a second of a user against those of a device.
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
        if load.given or prefill or decode or report:
            raise UsageError("--from-log predicts no speed", remedy="leave out --workload and what goes with it")
        from moonpad.cli.plan_from_log import run_from_log

        run_from_log(from_log, model, options, keep=not no_keep and not row, row=row, json=json)
        return
    if no_keep or row:
        raise UsageError(f"{'--row' if row else '--no-keep'} goes with --from-log")
    if spec is None and model is None:
        raise UsageError(
            "what is to be planned?", remedy="name a spec, --model moonshotai/Kimi-K2-Thinking, or --from-log FILE"
        )
    if prefill is not None or decode is not None:
        from moonpad.cli.plan_speed_pools import run_plan_speed_pools

        run_plan_speed_pools(spec, model, options, load, prefill, decode, report, json=json)
        return
    from moonpad.cli.plan_run import run_plan

    run_plan(spec, model, options, load, every=every, report=report, json=json)
