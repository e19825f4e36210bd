"""Items of a list that are an error and nothing else: ``3. `ValueError: …` `` among the steps that led to it, or one of
several messages that a page of reference has below each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.documents.told_generally import FENCE, HEADING

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
_OF_A_PERSON: Final = re.compile(
    r"\b(?:I|I'm|we|my|our|me|mine|ich|wir|mein\w*|je|nous|yo|eu|meu)\b|我|(?<!\w)(?:я|мы|меня|у нас)(?!\w)|私|저는",
    re.IGNORECASE,
)
_OF_A_REPORT: Final = re.compile(
    r"\b(?:bug|happen\w*|actual|observed|symptoms?|logs?|outputs?|issues?|problems?|results?|environment|reproduc\w*|steps"
    r"|expected|fail\w*|ends?|crash\w*|gets?|got|sees?|saw|shows?)\b|现象|复现|报错|日志|passiert|geschah|случил|произош",
    re.IGNORECASE,
)
"""Of a heading or a sentence above a list in what somebody reports."""
_MOST_WORDS: Final = 6
"""Of a line that heads a list and is no sentence."""
_SEVERAL: Final = 2


def listed_messages(lines: Sequence[str]) -> set[int]:
    """Lines, from 0, of items that are messages of several errors, one below the other, under a heading, in a text of
    which no person speaks: nothing that it starts has printed them."""
    found: set[int] = set()
    block: list[int] = []
    items = [number for number in range(len(lines)) if behind_marker(lines, number)]
    for number in items:
        if block and any(line.strip() for line in lines[block[-1] + 1 : number]):
            found |= _messages(block, lines)
            block = []
        block.append(number)
    found |= _messages(block, lines)
    return set() if found and _is_reported(lines) else found


def _messages(block: Sequence[int], lines: Sequence[str]) -> set[int]:
    if len({lines[number].strip() for number in block}) < _SEVERAL:
        return set()
    head = next((lines[at][:_LONGEST] for at in range(block[0] - 1, -1, -1) if lines[at].strip()), "")
    titled = HEADING.match(head) is not None or (len(head.split()) <= _MOST_WORDS and not _ITEM.match(head))
    return set() if not titled or _OF_A_REPORT.search(head) else {*block}


def _is_reported(lines: Sequence[str]) -> bool:
    """Whether a person speaks, or a heading is that of a form for reports."""
    fenced = False
    for line in lines:
        text = line[:_LONGEST]
        fenced ^= FENCE.match(text) is not None
        if not fenced and (_OF_A_PERSON.search(text) or (HEADING.match(text) and _OF_A_REPORT.search(text))):
            return True
    return False


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
