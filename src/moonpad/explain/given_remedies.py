"""What a remedy asks for and the command has already is no way out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.engines.base import Reading
from moonpad.explain.results import Remark
from moonpad.values.records import replace

_ALTERNATIVES: Final = re.compile(r",? or ")
_ADDS: Final = re.compile(r"(?:add|keep the experts whole(?:: | by )|write|give)[^,;()]{0,40}?(?P<flag>--[a-z][a-z-]+)")


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
