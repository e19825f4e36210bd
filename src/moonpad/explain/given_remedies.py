"""What a remedy asks for and the command has already is no way out; what a parser did not know is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.engines.base import Reading
from moonpad.explain.results import Edit, Remark
from moonpad.values.records import replace

_ALTERNATIVES: Final = re.compile(r",? or ")
_ADDS: Final = re.compile(r"(?:add|keep the experts whole(?:: | by )|write|give)[^,;()]{0,40}?(?P<flag>--[a-z][a-z-]+)")
_UNKNOWN: Final = re.compile(r"leave (?P<flag>--[a-z][\w-]*) out")


def without_unknown(failure: Remark, readings: Sequence[Reading]) -> Remark:
    """With the option left out that the parser of the log did not know, whatever its value holds."""
    match = _UNKNOWN.fullmatch(failure.finding.remedy)
    if match is None or failure.changes or " does not know " not in failure.finding.message:
        return failure
    places = [reading.parsed.occurrence(match["flag"]) for reading in readings]
    if len(places) != 1 or (place := places[0]) is None:
        return failure
    return replace(failure, command=0, edits=(Edit(place.index, place.length, ()),))


def but_given(failure: Remark, readings: Sequence[Reading]) -> Remark:
    """The failure without those alternatives of its remedy that add a switch which each command has."""
    parts = _ALTERNATIVES.split(failure.finding.remedy)
    left = [part for part in parts if not _is_given(part, readings)]
    if not left or len(left) == len(parts):
        return failure
    return replace(failure, finding=replace(failure.finding, remedy=", or ".join(left)))


def _is_given(part: str, readings: Sequence[Reading]) -> bool:
    match = _ADDS.fullmatch(part.strip())
    if match is None:
        return False
    places = [reading.parsed.occurrence(match["flag"]) for reading in readings]
    return all(place is not None and place.value is True for place in places)
