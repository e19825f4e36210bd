"""What a remedy asks for and the command has already is no way out; what a parser did not know is left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.engines.base import Reading
from moonpad.explain.commands import Command
from moonpad.explain.results import Edit, Remark
from moonpad.values.records import replace

_ALTERNATIVES: Final = re.compile(r",? or ")
_ADDS: Final = re.compile(r"(?:add|keep the experts whole(?:: | by )|write|give)[^,;()]{0,40}?(?P<flag>--[a-z][a-z-]+)")
_CLAUSES: Final = "; "
_WHERE_GIVEN: Final = re.compile(r"where [^;]{1,80}, leave (?P<flag>--[a-z][\w-]*) out")
_WHERE_ASKED: Final = re.compile(r"where (?P<name>[A-Za-z]\w*) is asked for\b")
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


def but_unused(failure: Remark, readings: Sequence[Reading], commands: Sequence[Command]) -> Remark:
    """The failure without those parts of its remedy that are for commands with an option, or with a library, that none
    of these has: `where DeepEP is asked for …, leave it out`."""
    parts = failure.finding.remedy.split(_CLAUSES)
    left = [part for part in parts if not _is_unused(part, readings, commands)]
    if not left or len(left) == len(parts):
        return failure
    remedy = _CLAUSES.join(left)
    if left[0] != parts[0]:
        remedy = remedy.removeprefix("else ")
    return replace(failure, finding=replace(failure.finding, remedy=remedy))


def _is_unused(part: str, readings: Sequence[Reading], commands: Sequence[Command]) -> bool:
    if (given := _WHERE_GIVEN.fullmatch(part)) is not None:
        return all(reading.parsed.occurrence(given["flag"]) is None for reading in readings)
    if (asked := _WHERE_ASKED.match(part)) is None:
        return False
    words = (word.text for command in commands for word in (*command.argv, *command.env.values()))
    return not any(asked["name"].casefold() in word.casefold() for word in words)


def _is_given(part: str, readings: Sequence[Reading]) -> bool:
    match = _ADDS.fullmatch(part.strip())
    if match is None:
        return False
    places = [reading.parsed.occurrence(match["flag"]) for reading in readings]
    return all(place is not None and place.value is True for place in places)
