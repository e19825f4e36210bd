"""What the author of a report says has mended its error: `the fix is to set A=0`, `it works with 0.10.2`."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from typing import Final

from moonpad.engines.foreign_names import MARKING

_IT: Final = r"(?:it|this|that|the (?:issue|problem|error|crash|hang|failure))"
_MENDS: Final = re.compile(
    rf"\bthe (?:only |actual |real |current )?(?:fix|workaround|solution) (?:(?:for me|here|then) )?(?:is|was)\b"
    rf"|\b(?:fix(?:es|ed)|solve[sd]|resolve[sd]|avoid(?:s|ed)|work(?:s|ed) around|got rid of) {_IT}\b"
    rf"|\b(?:fixed|solved|resolved|worked around) (?:{_IT} )?(?:by|with|when|after)\b"
    rf"|\bwork-?around[ ]?(?:is|was|:)|\b(?:it|{'|'.join(MARKING)}|everything|the (?:server|engine|model)) "
    r"(?:works|worked|starts|started|runs|ran|loads|loaded) (?:fine |well |again |correctly |OK )?"
    r"(?:with|when|after|by|on|in)\b"
    r"|解决(?:方法|办法|方案)(?:是|为|[:：])",
    re.IGNORECASE,
)
_THING: Final = re.compile(
    r"(?<![\w$])[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,8}(?!\w)|(?<![\w-])--[a-z][a-z0-9_-]{2,60}"
    r"|(?<![\w./-])v?\d{1,2}\.\d{1,3}\.\d{1,3}(?:(?:\.?post|rc)\d{1,2})?(?![\w.]*\w)|(?<!\w)b\d{4,5}(?!\w)"
)
"""A variable, an option or a release: a mend without one says nothing that can be done."""
_NOT_SO: Final = re.compile(
    r"\b(?:not|no|never|neither|without success|tried|hope|hoping|might|may|maybe|perhaps|could|would|should|expected?"
    r"|if you|is there|any (?:fix|workaround))\b|n['’]t\b|[?？]|不|没",
    re.IGNORECASE,
)
_ENDS: Final = re.compile(r"(?<=[.!?;。！；])\s+")
_QUOTED: Final = re.compile(r"[ \t]*>")
_LONGEST: Final = 1_000
_LONGEST_SENTENCE: Final = 300


def own_mend(lines: Sequence[str], logged: Set[int]) -> tuple[int, str] | None:
    """The number of its line, from 1, and the sentence; None where there is none, or several that differ in what they
    name. `logged`: the lines that are not the author's."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST]
        if number in logged or _QUOTED.match(text) or not (_MENDS.search(text) and _THING.search(text)):
            continue
        for sentence in _ENDS.split(text.strip(" \t*_`#-")):
            mends = _MENDS.search(sentence) and _THING.search(sentence) and not _NOT_SO.search(sentence)
            if mends and len(sentence) <= _LONGEST_SENTENCE:
                found.append((number, sentence.rstrip(" .。")))
    things = {frozenset(_THING.findall(sentence)) for _, sentence in found}
    return found[0] if len(things) == 1 else None
