"""Where quotes and substitutions end, and what `$'…'` holds."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.input_limits import NESTING, too_deep

_SPECIAL: Final = re.compile(r"""\\.?|\$[({]|['"`(){}]""", re.S)
_CLOSERS: Final = {"$(": ")", "${": "}", '"': '"', "`": "`"}
_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.S)
_NAMED: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def behind_closer(text: str, position: int, closer: str, end: int) -> int:
    """Behind the closer of what was opened before `position`, past all that is nested in it; -1 without one.

    Raises UsageError beyond 50 levels.
    """
    stack = [closer]
    while match := _SPECIAL.search(text, position, end):
        special, top, position = match.group(), stack[-1], match.end()
        if special == top:
            stack.pop()
            if not stack:
                return position
        elif top == "`":
            continue
        elif special == "'" and top != '"':
            position = text.find("'", position, end) + 1
            if position == 0:
                return -1
        elif special in _CLOSERS or (special == "(" and top == ")"):
            stack.append(_CLOSERS.get(special, ")"))
        if len(stack) > NESTING:
            raise too_deep("quotes and substitutions")
    return -1


def ansi_c(text: str) -> str:
    """The inside of `$'…'` with its escapes read."""
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    hexadecimal = match.group(1) or match.group(2) or match.group(3)
    if hexadecimal or match.group(4):
        code = int(hexadecimal, 16) if hexadecimal else int(match.group(4), 8) & 0xFF
        return chr(code) if code <= 0x10FFFF and not 0xD800 <= code < 0xE000 else "\ufffd"
    named: str = match.group(5)
    return _NAMED.get(named, named if named in "\\'\"?" else f"\\{named}")
