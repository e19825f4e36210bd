"""Lists that a shell makes several words of, for there are blanks at their commas."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.argv_reader import Occurrence
from moonpad.engines.base import Reading
from moonpad.explain.commands import Command
from moonpad.explain.results import Edit

_PAIRS: Final = re.compile(r"(?:[^\s,=]+=[^\s,=]+)?(?:,(?:[^\s,=]+=[^\s,=]+)?)*")
_NUMBERS: Final = re.compile(r"(?:\d+(?:\.\d+)?)?(?:,(?:\d+(?:\.\d+)?)?)*")
_MOST: Final = 200
"""Words of one list."""


def cut_list(command: Command, reading: Reading, at: int) -> tuple[Occurrence, list[Edit]] | None:
    """The option whose list goes on with the word at `at`, and the edit that joins it. Every piece is of pairs as the
    first is (`a=b`), or of numbers: words of a sentence behind a comma are not."""
    place = next((option for option in reading.parsed.occurrences if option.index + option.length == at), None)
    if place is None or not isinstance(place.value, str):
        return None
    form = _PAIRS if "=" in place.value else _NUMBERS
    joined, end = place.value, at
    while end < min(len(command.argv), at + _MOST):
        word = command.argv[end]
        if not (joined.endswith(",") or word.text.startswith(",")) or word.unresolved or not form.fullmatch(word.text):
            break
        joined, end = joined + word.text, end + 1
    if end == at or not form.fullmatch(place.value):
        return None
    edit = Edit(place.index, end - place.index, (place.written, joined.strip(",")))
    return place, [edit] if place.length > 1 else []
