"""What a text expects of the context of one request: in words, by the answers that it asks for, or by what a server of
it has refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

_LONGEST: Final = 2000
_EACH: Final = (
    r"(?:(?:per|each|every|a single|one)[ -](?:request|slot|user|client|session|conversation|agent|chat|sequence)"
    r"|(?:each|every one) of (?:them|these|the|our|\d))"
)
_NUMBER: Final = r"(?<![\w.,/-])(?P<{}>\d{{1,3}}(?:,\d{{3}}){{1,2}}|\d{{4,7}}|\d{{1,4}}[ ]?[kK])(?![\w/-]|[.,]\d)"
_WANTED: Final = re.compile(
    rf"{_NUMBER.format('ahead')}(?=[^.;\n]{{0,60}}\b{_EACH}s?\b)"
    rf"|\b{_EACH}s?\b[^.;\n]{{0,60}}?{_NUMBER.format('behind')}",
    re.IGNORECASE,
)
_REFUSED: Final = re.compile(r"exceeds the available context size \(?(?P<most>\d{3,7})(?: tokens)?\)?")
_REFUSED_SOMEHOW: Final = re.compile(r"exceeds the available context size(?![ ]?\(?\d)")
_ANSWER: Final = re.compile(
    r"\b(?:max_tokens|max_completion_tokens|n_predict)[\\\"']{0,3}[ ]?[:=][ ]?(?P<answer>\d{3,7})\b"
)


def wants_whole(context: int, each: int, lines: Sequence[str]) -> str:
    """Why a request is meant to have more than `each` of the `context` tokens that the slots share: `line 3 …`; ""
    where nothing says so."""
    for number, line in enumerate(lines, 1):
        text = line[:_LONGEST]
        refused = _REFUSED.search(text)
        if (refused is not None and int(refused["most"]) == each) or _REFUSED_SOMEHOW.search(text):
            return f"line {number} is a refusal for want of it"
        answer = _ANSWER.search(text)
        if answer is not None and each <= int(answer["answer"]) < context:
            return f"line {number} asks for {int(answer['answer']):,} tokens of answer alone"
        if any(size in sizes(context) for size in _sizes_in(text)):
            return f"line {number} has all of them for each"
    return ""


def sizes(context: int) -> frozenset[str]:
    """How people write so many tokens: `131072`, `128k`."""
    thousands = {str(context // unit) for unit in (1000, 1024) if context % unit == 0}
    return frozenset({str(context), *(f"{each}k" for each in thousands)})


def _sizes_in(text: str) -> Iterator[str]:
    for match in _WANTED.finditer(text):
        yield re.sub(r"[ ,]", "", match["ahead"] or match["behind"]).casefold()
