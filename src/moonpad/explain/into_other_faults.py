"""Remedies of known faults that would lead into another known fault of the same release are not made."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from moonpad.explain.results import Judged, Remark
from moonpad.explain.spoiling import spoils
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_NUMBERS: Final = re.compile(r"\d+")
_REPORTED: Final = re.compile(r"reported for [^:]{1,120}: |[ ]\([^()]{1,200}\)")
_ENDS: Final = re.compile(r"\bends\b|\bcrash|\brefused\b|\bdies\b|\bhangs?\b|\billegal\b")
_LONGEST: Final = 160

Mended = Callable[[Judged], Judged | None]
"""Judges the commands with all that the remarks mend."""


def but_into_others(judged: Judged, mended: Mended) -> Judged:
    """Without the edits of those remedies with which the commands have a fault that they do not have as they stand.

    What ends the engine is mended all the same, where the other fault is that some answers are wrong."""
    made = [remark for remark in judged.remarks if _may_be_kept_back(remark)]
    worse = _new_faults(judged, mended(judged)) if made else ()
    if not any(map(_ends, worse)):
        made = [remark for remark in made if not _ends(remark)]
    if not worse or not made:
        return judged
    for kept_back in (*([remark] for remark in made), *([made] if len(made) > 1 else [])):
        other = _without(judged, kept_back, worse[0])
        if not _new_faults(judged, mended(other)):
            return other
    return judged


def _may_be_kept_back(remark: Remark) -> bool:
    finding = remark.finding
    is_known = finding.code is Code.KNOWN_REPORT and finding.severity is Severity.WARNING
    return is_known and remark.changes and not remark.ends_start


def _ends(remark: Remark) -> bool:
    return _ENDS.search(remark.finding.message) is not None


def _new_faults(judged: Judged, other: Judged | None) -> tuple[Remark, ...]:
    had = {_NUMBERS.sub("", remark.finding.message) for remark in judged.remarks}
    return tuple(
        remark
        for remark in (other.remarks if other is not None else ())
        if remark.finding.severity is not Severity.NOTE
        and not remark.of_former
        and spoils(remark.finding)
        and _NUMBERS.sub("", remark.finding.message) not in had
    )


def _without(judged: Judged, kept_back: Sequence[Remark], worse: Remark) -> Judged:
    remarks = tuple(
        _unmade(remark, worse) if any(remark is each for each in kept_back) else remark for remark in judged.remarks
    )
    return replace(judged, remarks=remarks)


def _unmade(remark: Remark, worse: Remark) -> Remark:
    """With what the remedy leads into, behind the alternatives that do not."""
    first, between, rest = remark.finding.remedy.partition(", or ")
    fault = _REPORTED.sub("", worse.finding.message)
    fault = fault if len(fault) <= _LONGEST else f"{fault[:_LONGEST].rpartition(' ')[0]} …"
    held = f"to {first} leads into another fault: {fault}"
    remedy = f"{rest}; {held}" if between else held
    finding = replace(remark.finding, remedy=remedy)
    return replace(remark, finding=finding, edits=(), others=(), sets=(), unsets=(), drop_variable=False)
