"""`moonpad verify`: proof that an endpoint answers correctly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from moonpad.cli.endpoint import ANY_ENDPOINT, EndpointOptions, resolve_endpoint
from moonpad.cli.output import busy, clean, emit_json, next_command
from moonpad.cli.output import out as console
from moonpad.values.errors import CheckFailed, ContactLost, UsageError

MOST_RUNS = 1000

if TYPE_CHECKING:
    from moonpad.values.endpoint import Endpoint
    from moonpad.verify.probe import Probe
    from moonpad.verify.runner import Report


def verify(
    spec: Path | None = None,
    *,
    at: EndpointOptions = ANY_ENDPOINT,
    only: Annotated[list[str] | None, Parameter(consume_multiple=True, negative=())] = None,
    raw: Annotated[bool, Parameter(negative=())] = False,
    repeat: int = 1,
    fail_fast: Annotated[bool, Parameter(negative=())] = False,
    junit: Path | None = None,
    loop: int | None = None,
    seed: int = 0,
    vendor: str | None = None,
    out: Path | None = None,
    reference: Path | None = None,
    floor: float | None = None,
    concurrency: int = 5,
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
        Ids of the probes to run, as the table names them. raw_calls, and needle and tool_long,
        which take minutes on a large model, run only so.
    raw
        Judge the model's own text of a tool call, for a server that parses none: --only raw_calls.
    repeat
        Ask everything so many times. A probe that fails once has failed.
    fail_fast
        Ask nothing more once a probe has failed.
    junit
        Write the verdict to this file too, as JUnit's XML.
    loop
        Let the model call a tool so many times in a row, say 300, and tell the turn at which it drifts, instead of
        running probes.
    seed
        With --loop: another seed is another row of pages.
    vendor
        Moonshot's vendor verifier: a file of requests, one JSON object a line, or "own" for 500 of ours.
    out
        With --vendor: where the results go, a line each; what is answered there already is not asked again.
    reference
        With --vendor: the results of a reference endpoint, to compare when tools are called.
    floor
        With --reference: the least trigger similarity, 0.73 for K2-Thinking by Moonshot.
    concurrency
        With --vendor: requests at a time.
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
    if vendor is not None:
        from moonpad.cli.vendor import verify_vendor

        if only or out is None:
            raise UsageError("--vendor writes its results to a file", remedy="--vendor own --out results.jsonl")
        verify_vendor(
            spec,
            at,
            requests=vendor,
            out_file=out,
            reference=reference,
            concurrency=concurrency,
            floor=floor,
            json=json,
        )
        return
    if record or against:
        raise UsageError("--record and --against compare numbers", remedy="moonpad verify --numerics --against FILE")
    if not 1 <= repeat <= MOST_RUNS:
        raise UsageError(f"--repeat {repeat}: from 1 to {MOST_RUNS} times", remedy="--repeat 3")
    endpoint = resolve_endpoint(spec, at)
    reports = _ask(endpoint, (*(only or ()), *(("raw_calls",) if raw else ())), repeat, fail_fast=fail_fast)
    from moonpad.verify.runner import merged

    report = merged(reports)
    if junit is not None:
        _write_junit(junit, report)
    _show(report, json)
    _judge(report)
    next_command("moonpad bench" + at.words(spec))


def _ask(endpoint: Endpoint, only: tuple[str, ...], repeat: int, *, fail_fast: bool) -> list[Report]:
    """So many runs; fewer where nothing answers, or one failure is enough."""
    import asyncio

    from moonpad.verify import runner

    reports: list[Report] = []
    with busy("asking") as say:
        for run in range(1, repeat + 1):
            turn = f"{run} of {repeat}: " if repeat > 1 else ""

            def show(probe: Probe, turn: str = turn) -> None:
                say(f"{turn}{probe.id}: {probe.proves}")

            asked = runner.verify(endpoint, only=only, fail_fast=fail_fast, on_start=show)
            reports.append(asyncio.run(asked))
            failed = any(result.outcome.status == "fail" for result in reports[-1].results)
            if not reports[-1].answered or (fail_fast and failed):
                break
    return reports


def _write_junit(path: Path, report: Report) -> None:
    from moonpad.report.junit import junit
    from moonpad.store.files import replace_text

    try:
        replace_text(path, junit(report))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}", remedy="--junit FILE") from error


def _show(report: Report, json: bool) -> None:
    if json:
        emit_json(report.as_json())
        return
    from moonpad.report.verify_table import verify_table

    table = verify_table(report, console().width if console().is_terminal else 10_000)
    table.plain = clean(table.plain)  # one character for one: the styles stay where they are
    console().print(table)


def _judge(report: Report) -> None:
    if not report.answered:
        raise ContactLost(f"nothing answers at {report.endpoint}", remedy="moonpad status")
    failed = [result.probe.id for result in report.results if result.outcome.status == "fail"]
    if failed:
        raise CheckFailed(f"{len(failed)} of {len(report.results)} probes failed: {', '.join(failed)}")
