"""`moonpad plan --report`: a page that draws what one user gets against what a device gives."""

from __future__ import annotations

from pathlib import Path

from moonpad.cli.output import note
from moonpad.predict.plan_speeds import SpeedAnswer
from moonpad.report.plan_page import plan_page
from moonpad.store.atomic_files import replace_as_is
from moonpad.values.errors import UsageError
from moonpad.values.plan_answer import Answer


def write_plan_report(path: Path, answer: Answer, speeds: SpeedAnswer) -> None:
    """Raises UsageError where the file cannot be written."""
    try:
        replace_as_is(path, plan_page(answer, speeds), mode=0o644)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}", remedy="--report FILE.html") from error
    note(f"written: {path}")
