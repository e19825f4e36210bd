"""What bash makes of braces without quotes: `{"a":1,"b":2}` becomes the two words `a:1` and `b:2`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

_MOST: Final = 64
"""Words of one."""
_LONGEST: Final = 1000


def brace_words(written: str) -> tuple[str, ...]:
    """The words, without their quotes; the text alone where bash expands nothing in it."""
    if len(written) > _LONGEST or any(blank in written for blank in " \t\n") or "$" in written or "\\" in written:
        return (written,)
    return tuple(_unquoted(word) for word in _expanded(written) if word)


def _expanded(text: str) -> list[str]:
    for begin, end, commas in _groups(text):
        if not commas:
            continue
        places = (begin, *commas, end)
        parts = [text[first + 1 : last] for first, last in pairwise(places)]
        behind = _expanded(text[end + 1 :])
        inside = [word for part in parts for word in _expanded(part)]
        return [f"{text[:begin]}{word}{rest}" for word in inside for rest in behind][:_MOST]
    return [text]


def _groups(text: str) -> Iterator[tuple[int, int, list[int]]]:
    """Where each pair of braces begins and ends, the outer ones first, with the commas that are its own."""
    open_at: list[tuple[int, list[int]]] = []
    found: list[tuple[int, int, list[int]]] = []
    quote = ""
    for at, character in enumerate(text):
        if quote or character in "'\"":
            quote = "" if character == quote else quote or character
        elif character == "{":
            open_at.append((at, []))
        elif character == "," and open_at:
            open_at[-1][1].append(at)
        elif character == "}" and open_at:
            begin, commas = open_at.pop()
            found.append((begin, at, commas))
    yield from sorted(found)


def _unquoted(word: str) -> str:
    kept, quote = "", ""
    for character in word:
        if character in "'\"" and quote in ("", character):
            quote = "" if quote else character
        else:
            kept += character
    return kept
