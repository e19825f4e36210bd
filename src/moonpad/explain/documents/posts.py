"""Who wrote which part of a thread: `name · comment · 2025-11-25`, `name commented on Nov 3, 2025`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_HEADS: Final = (
    re.compile(r"(?P<name>\S{1,40})[ ][·•][ ](?:description|comment|review|answer|reply)[ ][·•][ ]20\d\d-\d\d", re.I),
    re.compile(
        r"@?(?P<name>[A-Za-z0-9][\w.-]{1,39})(?:\[bot\])?[*_]{0,2}[ ](?:\([^()]{1,30}\)[ ])?"
        r"(?:opened|commented|replied|answered|asked)(?:[ ]this[ ]\w{1,12})?[ ](?:on[ ])?"
        r"(?:\w{3,9}\.?[ ]\d{1,2}|20\d\d-|\d)",
        re.I,
    ),
    re.compile(r"\[turn[ ]\d{1,4}[ ]by[ ](?P<name>[^\s,\]]{1,40})"),
)
_LONGEST: Final = 300


def author_at(lines: tuple[str, ...], line: int) -> str:
    """The author of the part that a line stands in; "" above the first, or where the text is no thread."""
    above = [name for number, name in _heads(lines) if number <= line]
    return above[-1] if above else ""


def begin_of_post(lines: tuple[str, ...], line: int) -> int:
    """The line of the head above it, 0 where there is none."""
    return max((number for number, _ in _heads(lines) if number <= line), default=0)


def of_other_person(lines: tuple[str, ...], line: int, command: int) -> bool:
    """Whether a line stands in a later part than the command, which somebody else wrote: of his own machine."""
    later = line > command and begin_of_post(lines, line) > command
    return later and author_at(lines, line) != author_at(lines, command) != ""


@lru_cache(maxsize=4)
def _heads(lines: Sequence[str]) -> tuple[tuple[int, str], ...]:
    heads = []
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST].lstrip(" \t>*_#-")
        match = next(filter(None, (head.match(text) for head in _HEADS)), None) if text else None
        if match is not None:
            heads.append((number, match["name"].casefold()))
    return tuple(heads)
