"""Comments of a script that give the reason of a choice: `an empty value must stay empty rather than fall back to one;
parsing plain output would move the answer`. What they say would go wrong is what the script avoids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from moonpad.explain.commands import Script

_CHOICE: Final = re.compile(
    r"\b(?:would|rather than|instead of|on purpose|deliberate(?:ly)?|intentional(?:ly)?|by design|must (?:stay|be|not)"
    r"|(?:to|which|that) avoids?|mandatory|otherwise|is (?:required|needed)|needs? (?:the|to)|so that"
    r"|so (?:no|we|it|the|this|they)|stays?|because|in order to|prevents?)\b|为了|避免|否则|以免",
    re.IGNORECASE,
)
_COMPLAINT: Final = re.compile(
    r"\b(?:still|but (?:it|then|now)|(?:I|we) (?:get|got|see|saw|tried|have)|why|help|any idea|doesn['’]t work)\b|[?？]"
    r"|\b\w{3,40}(?:Error|Exception)\b",
    re.IGNORECASE,
)
"""What tells of something that is not avoided."""
_LONGEST: Final = 2_000


def explained_choices(script: Script) -> frozenset[int]:
    """The numbers of the lines, from 1; none of a document, in which `#` begins a heading."""
    return frozenset() if script.markdown else frozenset(_lines_of(script.lines))


def _lines_of(lines: Sequence[str]) -> Iterator[int]:
    for is_comment, block in groupby(enumerate(lines, 1), lambda each: each[1].lstrip().startswith("#")):
        if not is_comment:
            continue
        numbered = list(block)
        text = " ".join(line[:_LONGEST].strip(" \t#") for _, line in numbered)[:_LONGEST]
        if _CHOICE.search(text) and not _COMPLAINT.search(text):
            yield from (number for number, _ in numbered)
