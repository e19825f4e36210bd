"""Where a substitution ends that has quotes and further substitutions in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from moonpad.explain.input_limits import NESTING, too_deep

_SPECIAL: Final = re.compile(r"""\\.?|\$[({]|['"`(){}]""", re.S)
_CLOSERS: Final = {"$(": ")", "${": "}", '"': '"', "`": "`"}


def behind_closer(text: str, position: int, closer: str, end: int, work: Callable[[int], None]) -> int:
    """Behind the closer of what was opened before `position`, past all that is nested in it; -1 without one.

    `work` is told each step. Raises UsageError beyond 50 levels.
    """
    stack = [closer]
    while match := _SPECIAL.search(text, position, end):
        work(1)
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
