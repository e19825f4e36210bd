"""A plugin whose release the text does not name: several of its releases bear the number of the engine's."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from moonpad.catalog.release_days import release_days
from moonpad.explain.results import Judged, Remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import order

FOR_WHICH: Final = ", for which"
"""In the sentence about such a release."""
_WHICH: Final = "the text does not name the plugin's own release: --engine-version says which is meant"
_NUMBER: Final = re.compile(r"\d+\.\d+\.\d+(?:rc\d+)?")
_OF_A_RELEASE: Final = frozenset(
    {
        *(Code.UNKNOWN_FLAG, Code.REMOVED_FLAG, Code.RENAMED_FLAG, Code.PREFIX_FLAG, Code.INVALID_VALUE),
        *(Code.DEAD_ENV, Code.KNOWN_REPORT),
    }
)


def releases_for(engine: str, base: str) -> list[str]:
    """Those of a plugin that bear the number of a release of what it plugs into, from the first on."""
    days = release_days().get(engine)
    alike = re.compile(rf"{re.escape(base)}(?:rc\d+)?")
    return sorted((each for each in days.releases if alike.fullmatch(each)), key=order) if days is not None else []


def but_of_one_release(judged: Judged, by_release: Callable[[str], Judged | None]) -> Judged:
    """What the first of these releases does not have is a note, and mends nothing."""
    if FOR_WHICH not in judged.version_because:
        return judged
    first = releases_for(judged.engine, re.sub(r"rc\d+\Z", "", judged.version))[:1]
    other = by_release(first[0]) if first and first[0] != judged.version else None
    if other is None:
        return judged
    both = {_place(remark) for remark in other.remarks}

    def told(remark: Remark) -> Remark:
        finding = remark.finding
        if finding.severity is Severity.NOTE or finding.code not in _OF_A_RELEASE or _place(remark) in both:
            return remark
        message = f"{finding.message.removesuffix('.')}; {_WHICH}"
        note = replace(finding, severity=Severity.NOTE, message=message)
        return replace(remark, finding=note, edits=(), others=(), sets=(), unsets=(), stops=False, ends_start=False)

    return replace(judged, remarks=tuple(map(told, judged.remarks)))


def _place(remark: Remark) -> object:
    """With what it says, whichever release it says that of."""
    finding = remark.finding
    return finding.code, finding.where, remark.command, remark.at, _NUMBER.sub("", finding.message)
