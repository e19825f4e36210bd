"""Recordings of answers: those of `moonpad verify --record` and `--against`, and those that moonpad ships."""

from __future__ import annotations

import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import msgspec

from moonpad.report.verify_table import NAMES
from moonpad.spec.input_file import read_regular
from moonpad.store.atomic_files import replace_as_is
from moonpad.values.errors import CheckFailed, UsageError
from moonpad.verify.own_text.recording import AnswerRecording
from moonpad.verify.runner import Report

FILE_BYTES: Final = 64 << 20
SHIPPED: Final = "moonpad.catalog"
"""The package with the recordings of our own test models: `kimi-k2-tiny-answers.json`."""
RECORD_ONE: Final = "moonpad verify --record FILE  writes one, on an endpoint that you trust"


def read_recording(path: Path) -> AnswerRecording:
    """
    Raises:
        UsageError: the file cannot be read, or is not a recording of answers.
    """
    try:
        return msgspec.json.decode(read_regular(path, FILE_BYTES), type=AnswerRecording)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", remedy=RECORD_ONE) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not a recording of answers: {error}", remedy=RECORD_ONE) from error


def shipped_recording(model: str) -> AnswerRecording | None:
    """That of a model that comes with moonpad."""
    recording = files(SHIPPED) / f"{model}-answers.json"
    if not model or "/" in model or not recording.is_file():
        return None
    with as_file(recording) as path:
        return read_recording(path)


def write_recording(report: Report, path: Path) -> int:
    """How many answers were written.

    Raises:
        CheckFailed: a probe failed, so the endpoint is not one to trust; or nothing of the model's own text was seen.
    """
    if report.failed:
        names = ", ".join(result.probe.id for result in report.failed)
        raise CheckFailed(f"nothing is recorded: {len(report.failed)} probes failed: {names}", remedy=RECORD_ONE)
    if not report.own_texts:
        reason = report.own_text_missing or "no probe that was run asks for it"
        raise CheckFailed(f"nothing is recorded: the model's own text was not seen ({reason})", remedy=RECORD_ONE)
    at = time.strftime("%Y-%m-%d %H:%M:%S")
    engine = next((NAMES.get(result.engine, result.engine) for result in report.results), "")
    made_by = f"{engine} at {report.endpoint}" if engine else report.endpoint
    recording = AnswerRecording(report.model, made_by, at, dict(sorted(report.own_texts.items())))
    replace_as_is(path, msgspec.json.encode(recording).decode() + "\n", mode=0o644)
    return len(report.own_texts)
