"""`moonpad verify` without a mode: the probes."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING

from moonpad.cli.endpoint import EndpointOptions
from moonpad.cli.output import bar, clean, emit_json, next_command
from moonpad.cli.output import out as console
from moonpad.cli.verify_options import ProbeOptions
from moonpad.values.errors import CheckFailed, ContactLost, UsageError

if TYPE_CHECKING:
    from moonpad.values.endpoint import Endpoint
    from moonpad.verify.probe import Probe
    from moonpad.verify.runner import Report

MOST_RUNS = 1000


def verify_probes(
    spec: Path | None, at: EndpointOptions, options: ProbeOptions, *, gate: bool, out_folder: Path | None, json: bool
) -> None:
    """
    Raises:
        CheckFailed: a probe failed, or the gate of the spec is not passed.
        ContactLost: nothing answers.
    """
    from moonpad.cli.verdict import check_gate, endpoint_of, folder_for, gate_of, keep, with_gate, words_of
    from moonpad.report.verify_page import verify_page
    from moonpad.verify.runner import merged

    if not 1 <= options.repeat <= MOST_RUNS:
        raise UsageError(f"--repeat {options.repeat}: from 1 to {MOST_RUNS} times", remedy="--repeat 3")
    if gate and options.ids:
        raise UsageError("--gate judges all probes", remedy="leave --only and --raw out, or --gate")
    limits = gate_of(spec, at) if gate else None
    endpoint = endpoint_of(spec, at, gate=gate)
    folder = folder_for(spec, at, out_folder)
    ids = options.ids if limits is None else _all_with(limits.must_pass)
    report = merged(_ask(endpoint, ids, options))
    broken = limits.of_report(report) if limits else None
    xml = _junit(report, options.junit)
    document = with_gate(report.as_json(), broken)
    _show(report, document if json else None)
    page = verify_page(report, broken)
    texts = {"verdict.html": page, "verdict.json": json_module.dumps(document, indent=2) + "\n", "junit.xml": xml}
    keep(folder, texts, named=out_folder is not None)
    if not report.answered:
        raise ContactLost(f"nothing answers at {report.endpoint}", remedy="moonpad status")
    check_gate(broken)
    if broken is None:
        _judge(report)
    next_command("moonpad bench" + words_of(spec, at, gate=gate))


def _all_with(must_pass: tuple[str, ...]) -> tuple[str, ...]:
    """The quick set and those of the gate."""
    from moonpad.verify.probes import PROBES

    return (*(probe.id for probe in PROBES), *must_pass)


def _ask(endpoint: Endpoint, only: tuple[str, ...], options: ProbeOptions) -> list[Report]:
    """So many runs; fewer where nothing answers, or one failure is enough."""
    import asyncio

    from moonpad.verify import runner

    reports: list[Report] = []
    count = len(runner.choose_any(only)) * options.repeat
    with bar("asking", count) as show:
        done = 0
        for run in range(1, options.repeat + 1):
            turn = f"{run} of {options.repeat}: " if options.repeat > 1 else ""

            def on_start(probe: Probe, turn: str = turn) -> None:
                nonlocal done
                show(done, f"{turn}{probe.id}")
                done += 1

            asked = runner.verify(endpoint, only=only, fail_fast=options.fail_fast, on_start=on_start)
            reports.append(asyncio.run(asked))
            failed = any(result.outcome.status == "fail" for result in reports[-1].results)
            if not reports[-1].answered or (options.fail_fast and failed):
                break
    return reports


def _junit(report: Report, path: Path | None) -> str:
    """The XML; written to `path` too."""
    from moonpad.report.junit import junit
    from moonpad.store.files import replace_text

    xml = junit(report)
    if path is not None:
        try:
            replace_text(path, xml)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror or error}", remedy="--junit FILE") from error
    return xml


def _show(report: Report, document: dict[str, object] | None) -> None:
    """The document on stdout where it is given, else the table."""
    if document is not None:
        emit_json(document)
        return
    from moonpad.report.verify_table import verify_table

    table = verify_table(report, console().width if console().is_terminal else 10_000)
    table.plain = clean(table.plain)  # one character for one: the styles stay where they are
    console().print(table)


def _judge(report: Report) -> None:
    failed = [result.probe.id for result in report.results if result.outcome.status == "fail"]
    if failed:
        raise CheckFailed(f"{len(failed)} of {len(report.results)} probes failed: {', '.join(failed)}")
