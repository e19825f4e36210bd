"""`moonpad plan --report`: a page that draws what one user gets against what a device gives."""

from __future__ import annotations

from pathlib import Path

from moonpad.predict.plan_speeds import SpeedAnswer
from moonpad.values.errors import UsageError
from moonpad.values.plan_answer import Answer


def write_plan_report(path: Path, answer: Answer, speeds: SpeedAnswer) -> None:
    raise UsageError("not yet")
