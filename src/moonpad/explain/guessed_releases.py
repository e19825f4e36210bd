"""Errors of a release that is only guessed: the last that has all options of the command. What is an error of that one
alone may be none of the one that is run, so that it is a warning, and nothing is changed for it."""

from __future__ import annotations

from typing import Final

from moonpad.explain.checks.options.stray_words import NO_SUCH
from moonpad.explain.results import Judged, Remark
from moonpad.explain.target_detection import OF_ITS_OPTIONS
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_OF_PARSER: Final = frozenset({Code.UNKNOWN_FLAG, Code.REMOVED_FLAG, Code.PREFIX_FLAG})
_ASKS: Final = "which is guessed from the options: --engine-version says which is meant"


def as_guessed(judged: Judged | None) -> Judged | None:
    """With the errors that name the release as warnings, where it was guessed from the names of options."""
    if judged is None or not judged.version_because.startswith(OF_ITS_OPTIONS):
        return judged
    return replace(judged, remarks=tuple(_as_warning(each, judged.version) for each in judged.remarks))


def _as_warning(remark: Remark, version: str) -> Remark:
    finding = remark.finding
    of_parser = finding.code in _OF_PARSER or NO_SUCH in finding.message  # which has its own doubts
    if finding.severity is not Severity.ERROR or of_parser or f" {version} " not in f"{finding.message} ":
        return remark
    message = f"{finding.message}; this holds with {version}, {_ASKS}"
    warning = replace(finding, severity=Severity.WARNING, message=message)
    return replace(remark, finding=warning, edits=(), others=(), sets=(), unsets=(), drop_variable=False)
