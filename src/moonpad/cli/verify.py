"""`moonpad verify`: proof that an endpoint answers correctly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moonpad.cli.endpoint import ANY_ENDPOINT, EndpointOptions, resolve_endpoint
from moonpad.cli.output import busy, clean, emit_json, next_command, out
from moonpad.values.errors import CheckFailed, ContactLost, UsageError

if TYPE_CHECKING:
    from moonpad.verify.runner import Report


def verify(
    spec: Path | None = None,
    *,
    at: EndpointOptions = ANY_ENDPOINT,
    only: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None,
    loop: int | None = None,
    seed: int = 0,
    numerics: Annotated[bool, Parameter(negative=())] = False,
    record: Path | None = None,
    against: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Prove that an endpoint answers correctly, whoever serves it. Exit 5 where a probe fails, 6 where nothing answers.

    Parameters
    ----------
    spec
        The spec whose endpoint is meant; without it and --url, the only endpoint that is up.
    only
        Ids of the probes to run, as the table names them. needle and tool_long, minutes on a large model, run only so.
    loop
        Let the model call a tool so many times in a row, say 300, and tell the turn at which it drifts, instead of
        running probes.
    seed
        With --loop: another seed is another row of pages.
    numerics
        Compare the log-probabilities of fixed texts instead of running probes: with --against, or for kimi-k2-tiny
        with what an oracle has computed.
    record
        With --numerics: write the log-probabilities of this endpoint, which you trust, to this file.
    against
        With --numerics: such a file, of the same model on another configuration.
    json
        Print one JSON document on stdout.
    """
    import asyncio

    from moonpad.verify import runner

    if numerics:
        from moonpad.cli.numerics import verify_numerics

        verify_numerics(spec, at, only=only, record_to=record, against=against, json=json)
        return
    if loop is not None:
        from moonpad.cli.agent_loop import verify_loop

        if only:
            raise UsageError("--only chooses probes, and --loop has none", remedy="leave one of them out")
        verify_loop(spec, at, calls=loop, seed=seed, json=json)
        return
    if record or against:
        raise UsageError("--record and --against compare numbers", remedy="moonpad verify --numerics --against FILE")
    endpoint = resolve_endpoint(spec, at)
    with busy("asking") as say:
        report = asyncio.run(
            runner.verify(endpoint, only=only or (), on_start=lambda probe: say(f"{probe.id}: {probe.proves}"))
        )
    _show(report, json)
    _judge(report)
    next_command("moonpad bench" + at.words(spec))


def _show(report: Report, json: bool) -> None:
    if json:
        emit_json(report.as_json())
        return
    from moonpad.report.verify_table import verify_table

    table = verify_table(report, out().width if out().is_terminal else 10_000)
    table.plain = clean(table.plain)  # one character for one: the styles stay where they are
    out().print(table)


def _judge(report: Report) -> None:
    if not report.answered:
        raise ContactLost(f"nothing answers at {report.endpoint}", remedy="moonpad status")
    failed = [result.probe.id for result in report.results if result.outcome.status == "fail"]
    if failed:
        raise CheckFailed(f"{len(failed)} of {len(report.results)} probes failed: {', '.join(failed)}")
