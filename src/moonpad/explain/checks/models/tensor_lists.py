"""Lists of `pattern=buffer` for an engine of GGUF files, with blanks at their commas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Edit, Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_PUT: Final = "--override-tensor"
_IN_BRACKETS: Final = re.compile(r"\([^()]*\)")
_LONGEST: Final = 8000
_SHOWN: Final = 60


def blanks_in_lists(case: Case) -> Iterator[Remark]:
    """A list in quotes is cut at its commas alone: a blank there belongs to the pattern, and no tensor's name has one,
    or to the name of a buffer, which is then none."""
    if not case.engine.facts.gguf_only:
        return
    places = [(place, _parts(place)) for place in case.first.parsed.occurrences if place.flag == _PUT]
    blank = [(place, part) for place, parts in places for part in parts if part != part.strip()]
    patterns = [(place, part.rpartition("=")[0]) for place, part in blank if _matches_nothing(part.rpartition("=")[0])]
    buffers = [(place, part.rpartition("=")[2]) for place, part in blank if part != part.rstrip()]
    if not (patterns or buffers):
        return
    first, said = (buffers or patterns)[0]
    severity = Severity.WARNING
    if buffers:
        message = (
            f'a blank in front of a comma of the list belongs to the buffer\'s name: "{shortened(said, _SHOWN)}" is'
        )
        message += " no buffer, which ends the start (unknown buffer type)"
        severity = Severity.WARNING if case.commands[0].fork else Severity.ERROR
    else:
        message = f'a blank behind a comma of the list belongs to the pattern: "{shortened(said, _SHOWN)}" matches no'
        message += " tensor, whose names have no blanks"
        message += f", nor do {len(patterns) - 1} more" if len(patterns) > 1 else ""
        message += ": what they name stays where it would lie without them"
    edits = [
        Edit(place.index, place.length, (place.written, ",".join(each.strip() for each in parts)))
        for place, parts in places
        if place.length > 1 and any(part != part.strip() for part in parts)
    ]
    remedy = "write the list without blanks"
    yield make_remark(severity, Code.INVALID_VALUE, first.written, message, remedy, at=first.index, edits=edits)


def _parts(place: Occurrence) -> list[str]:
    """What is written between the commas; none where a variable stands in it."""
    value = place.value if isinstance(place.value, str) else ""
    return [] if unresolved(value) or len(value) > _LONGEST else value.strip("'\"").split(",")


def _matches_nothing(pattern: str) -> bool:
    """It begins or ends with a blank, and has no alternative at its top, which would match by itself."""
    plain, before = pattern, ""
    while plain != before:
        plain, before = _IN_BRACKETS.sub("", plain), plain
    return bool(pattern.strip()) and pattern != pattern.strip() and "|" not in plain
