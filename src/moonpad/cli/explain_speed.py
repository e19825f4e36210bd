"""`moonpad explain --workload`: the speed of what was read, beside that of better ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from moonpad.cli.plan_speed import own_calibrations_of
from moonpad.explain.results import Judged
from moonpad.explain.speeds import speed_of
from moonpad.predict.plan_speeds import AskedLoad
from moonpad.report.explain_speed import speed_documents, speed_text
from moonpad.run.knowledge import knowledge
from moonpad.values.errors import UsageError


def explain_speeds(
    judged: Sequence[Judged], asked: AskedLoad, document: dict[str, Any], width: int
) -> tuple[Text, dict[str, Any]]:
    """The text to add, and the document with `predicted` and `faster` in each deployment.

    Raises:
        UsageError: no load was named.
    """
    if asked.growing:
        raise UsageError("a command's speed is that at one load", remedy="add --concurrency 16, or --rate 2")
    known, calibrations = knowledge(), own_calibrations_of()
    pairs = [(each, speed_of(each, asked, known, calibrations)) for each in judged]
    for (_, speed), deployment in zip(pairs, document["deployments"], strict=True):
        deployment |= speed_documents(speed)
    return speed_text(pairs, asked, width), document
