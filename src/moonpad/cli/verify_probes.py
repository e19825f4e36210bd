"""`moonpad verify` without a mode: the probes."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING

from moonpad.cli.endpoint import EndpointOptions
from moonpad.cli.output import bar, clean, emit_json
from moonpad.cli.output import out as console
from moonpad.cli.verify_options import ProbeOptions
from moonpad.cli.verify_verdict import (
    check_gate,
    endpoint_of,
    folder_for,
    gate_of,
    keep,
    next_is_bench,
    with_gate,
    writing,
)
from moonpad.values.errors import CheckFailed, ContactLost, UsageError

if TYPE_CHECKING:
    from moonpad.values.endpoint import Endpoint
    from moonpad.verify.probe import ApiProbe
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
    from moonpad.report.verify_page import verify_page
    from moonpad.verify.probes import PROBES
    from moonpad.verify.runner import merged

    if not 1 <= options.repeat <= MOST_RUNS:
        raise UsageError(f"--repeat {options.repeat}: must be from 1 to {MOST_RUNS}", remedy="--repeat 3")
    if gate and options.ids:
        raise UsageError("--gate judges all probes, --only and --raw choose some", remedy="leave one of them out")
    limits = gate_of(spec, at) if gate else None
    endpoint = endpoint_of(spec, at, gate=gate)
    folder = folder_for(spec, at, out_folder)
    ids = options.ids if limits is None else (*(probe.id for probe in PROBES), *limits.must_pass)
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
    if broken is None and report.failed:
        ids = tuple(result.probe.id for result in report.failed)
        raise CheckFailed(f"{len(ids)} of {len(report.results)} probes failed: {', '.join(ids)}")
    next_is_bench(spec, at, gate=gate)


def _ask(endpoint: Endpoint, only: tuple[str, ...], options: ProbeOptions) -> list[Report]:
    """The runs; fewer than asked for if nothing answers, or with --fail-fast if a probe failed."""
    import asyncio

    from moonpad.verify import runner

    reports: list[Report] = []
    count = len(runner.choose(only)) * options.repeat
    with bar("asking", count) as show:
        done = 0
        for run in range(1, options.repeat + 1):
            turn = f"{run} of {options.repeat}: " if options.repeat > 1 else ""

            def on_start(probe: ApiProbe, turn: str = turn) -> None:
                nonlocal done
                show(done, f"{turn}{probe.id}")
                done += 1

            report = asyncio.run(runner.verify(endpoint, only=only, fail_fast=options.fail_fast, on_start=on_start))
            reports.append(report)
            if not report.answered or (options.fail_fast and report.failed):
                break
    return reports


def _junit(report: Report, path: Path | None) -> str:
    """The XML, which is written to `path` too."""
    from moonpad.report.junit import junit
    from moonpad.store.atomic_files import replace_text

    xml = junit(report)
    if path is not None:
        with writing(path, "--junit FILE"):
            replace_text(path, xml)
    return xml


def _show(report: Report, document: dict[str, object] | None) -> None:
    """The document on stdout if it is given, else the table."""
    if document is not None:
        emit_json(document)
        return
    from moonpad.report.verify_table import verify_table

    table = verify_table(report, console().width if console().is_terminal else 10_000)
    table.plain = clean(table.plain)  # one character for one: the styles stay where they are
    console().print(table)
