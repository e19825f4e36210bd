"""Builds of somebody's own with which a text has measured: what was reported of releases did not stop them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.catalog.image_releases import held_release
from moonpad.explain.builds import other_build
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Judged, Remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_MEASURED: Final = re.compile(
    r"\bmeasured\b[^\n]{0,40}\b(?:this (?:manifest|file|recipe|script|command|image|build)|on the image it pins)\b"
    r"|\b(?:this (?:manifest|recipe|script|command|image|build))\b[^\n]{0,20}\b(?:was|is|has been) measured\b",
    re.IGNORECASE,
)
_FIGURES: Final = re.compile(r"\d[ \t]*(?:tok(?:en)?s?(?:/| per )s(?:ec)?\b|TPS\b|requests?/s\b)", re.IGNORECASE)
_LONGEST: Final = 2000
_DOUBT: Final = "with this build the text has measured runs"


def as_measured(judged: Judged | None, script: Script, commands: Sequence[Command]) -> Judged | None:
    """Faults that are known of releases are notes where the image is another publisher's, which release it holds is not
    known, and the text reports measurements of just what it starts. What it complains of stays as it is."""
    if judged is None or not any(map(_is_doubtful, judged.remarks)) or not _is_own(commands[0]):
        return judged
    script.budget.once("measured runs", 2 * len(script.lines), "the text around its engine commands")
    if not all(is_in_lines(sign, script.lines, _LONGEST) for sign in (_MEASURED, _FIGURES)):
        return judged
    return replace(judged, remarks=tuple(_as_note(each) if _is_doubtful(each) else each for each in judged.remarks))


def _is_own(command: Command) -> bool:
    image = command.container.image if command.container else None
    return image is not None and bool(other_build(command)) and held_release(image.text) is None


def _is_doubtful(remark: Remark) -> bool:
    finding = remark.finding
    return finding.code is Code.KNOWN_REPORT and finding.severity is Severity.WARNING and not remark.complained


def _as_note(remark: Remark) -> Remark:
    message = f"{remark.finding.message}; {_DOUBT}"
    remark = replace(remark, finding=replace(remark.finding, severity=Severity.NOTE, message=message))
    remark = replace(remark, edits=(), others=(), sets=(), unsets=(), drop_variable=False)
    return replace(remark, stops=False, ends_start=False)
