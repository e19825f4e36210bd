"""Changing the options of a command line: by our names of layout and settings, in the engine's own words."""

from __future__ import annotations

from moonpad.engines import ENGINES
from moonpad.engines.argv_reader import Occurrence, Parsed
from moonpad.explain.results import Edit


def flag_of(engine: str, name: str) -> str | None:
    """The option that says `name` to the engine, None where it has none."""
    return ENGINES[engine].command_line.options.get(name)


def occurrence(parsed: Parsed, flag: str | None) -> Occurrence | None:
    """Where the option stands in the command line, under whichever of its names; of several the last, which wins."""
    return next((option for option in reversed(parsed.occurrences) if flag in option.names), None)


def put(parsed: Parsed, length: int, flag: str, value: str | None) -> Edit:
    """Sets an option: in the place where it stands, else behind the last of the `length` words."""
    words = (flag,) if value is None else (flag, value)
    place = occurrence(parsed, flag)
    return Edit(length, 0, words) if place is None else Edit(place.index, place.length, words)
