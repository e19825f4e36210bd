"""Quotes that nothing closes, and how much of the text is read as quoted by one."""

from __future__ import annotations

import re
from typing import Final

_BEHIND_WORD: Final = re.compile(r"[ \t]+(?:\\\n[ \t]*)?--?[A-Za-z]|[ \t]*(?:\\?\n|\\?$)")
"""What follows a quote at the end of a word: `hermes' --reasoning-parser`, or the end of the line."""
_BEFORE_WORD: Final = re.compile(r"[\w./:@+-]*\w(?:[ \t]+(?:\\\n[ \t]*)?--[A-Za-z]|[ \t]*(?:\\?\n|\\?$))")
"""What follows a quote at the beginning of a value: `"hermes --enable-auto-tool-choice`."""
_OPTION: Final = re.compile(r"(?<![\w-])--[A-Za-z][\w-]{0,60}[ \t=]+$")
_LONGEST: Final = 200


def is_stray(text: str, start: int, inside: int, end: int) -> bool:
    """Whether a quote that nothing closes, from `start` to `inside`, stands at one end of a plain value with the next
    option behind it: with it taken out, the rest of the line is read as it was meant. A quote around JSON, a script or
    several words is none of these: there it is the other one that lacks."""
    if text[start:inside] not in ("'", '"'):
        return False
    before = text[max(0, start - _LONGEST) : start]
    if before[-1:].isalnum():
        return _BEHIND_WORD.match(text, inside, end) is not None
    return _OPTION.search(before) is not None and _BEFORE_WORD.match(text, inside, end) is not None


def line_end(text: str, start: int, end: int) -> int:
    newline = text.find("\n", start, end)
    return newline if newline >= 0 else end
