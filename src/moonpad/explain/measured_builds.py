"""What a text has measured: what was reported of releases did not stop a build of somebody's own, and no rule a server
that answered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.catalog.image_releases import held_release
from moonpad.explain.builds import other_build
from moonpad.explain.checks.command_traits import has_started
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
_OF_STARTS: Final = frozenset({Code.DOES_NOT_FIT, Code.UNSUPPORTED_FORMAT, Code.ILLEGAL_LAYOUT, Code.CONFLICT})
_BY_DAY: Final = " was the newest"
_MAIN: Final = "a build of that day may have it"
_SERVED: Final = "by the text it served: with other weights, devices or another release than it is judged by"


def but_served(judged: Judged, command: Command, script: Script) -> Judged:
    """Errors of rules about a whole start are warnings where a log or a client's results in the text show that it
    served: what was started there is another thing than was read. That a release has the model, another start of it
    shows too, and of a build that is known by its day alone it is not sure. What is wrong with the words themselves
    stays."""
    if not any(map(_ends_it, judged.remarks)):
        return judged
    of_start = _SERVED if has_started(command, by_words=False) else ""
    of_release = of_start or (_SERVED if _serves_elsewhere(judged.model_written, command, script) else "")
    of_release = of_release or (_MAIN if _BY_DAY in judged.version_because else "")
    remarks = (_doubted(each, of_release if _is_of_release(each) else of_start) for each in judged.remarks)
    return replace(judged, remarks=tuple(remarks))


def _ends_it(remark: Remark) -> bool:
    return remark.finding.severity is Severity.ERROR and remark.finding.code in _OF_STARTS


def _is_of_release(remark: Remark) -> bool:
    """Whether it says that the release does not have the model."""
    return remark.finding.code is Code.UNSUPPORTED_FORMAT and remark.finding.where == "engine"


def _serves_elsewhere(model: str, command: Command, script: Script) -> bool:
    others = (each for each in script.commands if each.program == command.program and model)
    return any(has_started(each, by_words=False) and model in {word.text for word in each.argv} for each in others)


def _doubted(remark: Remark, why: str) -> Remark:
    if not why or not _ends_it(remark):
        return remark
    finding = replace(remark.finding, severity=Severity.WARNING, message=f"{remark.finding.message}; {why}")
    return replace(_without_edits(remark), finding=finding)


def _without_edits(remark: Remark) -> Remark:
    remark = replace(remark, edits=(), others=(), sets=(), unsets=(), drop_variable=False)
    return replace(remark, stops=False, ends_start=False)


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
    return _without_edits(replace(remark, finding=replace(remark.finding, severity=Severity.NOTE, message=message)))
