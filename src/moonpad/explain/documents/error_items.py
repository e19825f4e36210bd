"""Items of a list that are an error and nothing else: ``3. `ValueError: …` `` among the steps that led to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_ITEM: Final = re.compile(
    r"[ \t>]{0,8}(?:[-*+•]|\d{1,2}[.)、])[ \t]{1,4}(?:\*\*)?(?P<mark>`{1,2}|[\"“])"
    r"(?=(?:\w{1,60}\.){0,8}\w{1,60}(?:Error|Exception): )"
)
_ENDS: Final = re.compile(r"[`\"”*]{1,4}[ \t.;。；]*")
_LONGEST: Final = 2_000
_MOST_LINES: Final = 4
"""Over which people break an error."""
_EXPLAINS: Final = re.compile(r"[ \t]{2,}[^\s`>]")
"""A line below an item that belongs to it: what a guide says of the error."""


def behind_marker(lines: Sequence[str], number: int) -> int:
    """Where the error begins in an item of a list, by its number from 0; 0 where the line is no item, or where it goes
    on with what an error means or what to do about it."""
    match = _ITEM.match(lines[number][:_LONGEST])
    if match is None:
        return 0
    for at, line in enumerate(lines[number : number + _MOST_LINES]):
        text = line[match.end() if at == 0 else 0 : _LONGEST]
        if at and not text.strip():
            return 0
        end = max(text.rfind(match["mark"].replace("“", "”")), -1)
        if end >= 0:
            below = lines[number + at + 1][:_LONGEST] if number + at + 1 < len(lines) else ""
            alone = _ENDS.fullmatch(text[end:]) is not None and not _EXPLAINS.match(below)
            return match.start("mark") if alone else 0
    return 0
