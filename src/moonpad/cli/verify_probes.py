"""`moonpad verify` without a mode: the probes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from moonpad.cli.output import bar, emit, next_command, note, out
from moonpad.cli.verify_options import ProbeOptions, RecordingOptions
from moonpad.cli.verify_recording import read_recording, shipped_recording, write_recording
from moonpad.cli.verify_target import Target, check_gate, keep, refuse_unwritable, with_gate, writing
from moonpad.report.junit import junit
from moonpad.report.verify_page import verify_page
from moonpad.report.verify_table import judged_in_words, verify_table
from moonpad.store.atomic_files import replace_as_is
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckFailed, ContactLost, UsageError
from moonpad.values.redaction import redacted
from moonpad.values.visible_text import shell_word
from moonpad.verify import runner
from moonpad.verify.own_text.recording import AnswerRecording
from moonpad.verify.probe import ApiProbe
from moonpad.verify.probes import PROBES

MOST_RUNS = 1000


def verify_probes(target: Target, options: ProbeOptions, recordings: RecordingOptions, out_folder: Path | None) -> None:
    """
    Raises:
        CheckFailed: a probe failed, or the gate of the spec is not passed.
        ContactLost: nothing answers.
    """
    if not 1 <= options.repeat <= MOST_RUNS:
        raise UsageError(f"--repeat {options.repeat}: must be from 1 to {MOST_RUNS}", remedy="--repeat 3")
    if target.gate and options.ids:
        raise UsageError("--gate judges all probes, --only and --raw choose some", remedy="leave one of them out")
    if options.junit is not None:
        refuse_unwritable(options.junit, "--junit FILE")
    if recordings.record is not None:
        refuse_unwritable(recordings.record, "--record ANOTHER_FILE")
    trusted = read_recording(recordings.against) if recordings.against else None
    limits, endpoint, folder = target.limits(), target.endpoint(), target.folder(out_folder)
    ids = options.ids if limits is None else (*(probe.id for probe in PROBES), *limits.must_pass)
    report = runner.merged(_ask(endpoint, ids, options, trusted))
    broken = limits.of_report(report) if limits else None
    document, xml = with_gate({**report.as_json(), "summary": judged_in_words(report)}, broken), junit(report)
    if options.junit is not None:
        with writing(options.junit, "--junit FILE"):
            replace_as_is(options.junit, xml)
    table = verify_table(report, out().width if out().is_terminal else 10_000)
    emit(table, document, json=target.json)
    page = verify_page(report, broken)
    texts = {"verdict.html": page, "verdict.json": json.dumps(redacted(document), indent=2) + "\n", "junit.xml": xml}
    keep(folder, texts, named=out_folder is not None)
    if not report.answered:
        raise ContactLost(f"nothing answers at {report.endpoint}", remedy="moonpad status")
    check_gate(broken)
    if broken is None and report.failed:
        ids = tuple(result.probe.id for result in report.failed)
        raise CheckFailed(f"{len(ids)} of {len(report.results)} probes failed: {', '.join(ids)}")
    if recordings.record is not None:
        with writing(recordings.record, "--record ANOTHER_FILE"):
            count = write_recording(report, recordings.record)
        note(f"{count} answers of {report.model} are recorded in {recordings.record}")
        next_command(f"moonpad verify --against {shell_word(recordings.record)}  --url OTHER")
        return
    target.next_is_bench()


def _ask(
    endpoint: Endpoint, only: tuple[str, ...], options: ProbeOptions, trusted: AnswerRecording | None
) -> list[runner.Report]:
    """The runs; fewer than asked for if nothing answers, or with --fail-fast if a probe failed."""
    reports = []
    count = len(runner.choose(only)) * options.repeat
    with bar("asking", count) as show:
        done = 0
        for run in range(1, options.repeat + 1):
            turn = f"{run} of {options.repeat}: " if options.repeat > 1 else ""

            def on_start(probe: ApiProbe, turn: str = turn) -> None:
                nonlocal done
                show(done, f"{turn}{probe.id}")
                done += 1

            report = asyncio.run(
                runner.verify(
                    endpoint,
                    only=only,
                    fail_fast=options.fail_fast,
                    recording_of=lambda model: trusted or shipped_recording(model),
                    on_start=on_start,
                )
            )
            reports.append(report)
            if not report.answered or (options.fail_fast and report.failed):
                break
    return reports
