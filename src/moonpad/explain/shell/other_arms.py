"""Which lines of a script never run together with a line: the other arms of the conditions around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_BEGINS: Final = r"(?:^|[;({]|&&|\|\||\b(?:then|else|do)\b)[ \t]*"
_WORDS: Final = re.compile(rf"{_BEGINS}(if|case|elif|else|fi|esac)\b|(;;&?|;&)[ \t]*(?:#.*)?$")
_OPENERS: Final = frozenset({"if", "case"})
_CLOSERS: Final = frozenset({"fi", "esac"})
_LONGEST: Final = 400


def other_arms(lines: Mapping[int, str], number: int) -> frozenset[int]:
    """Of these lines, by their numbers: those of `else` for one of `if`, those of the other patterns of a `case`."""
    above = [at for at in sorted(lines, reverse=True) if at < number]
    below = [at for at in sorted(lines) if at > number]
    ended = any(word.startswith(";") for word in _words(lines.get(number, "")))
    return frozenset((*_above(lines, above), *_below(lines, below, ended)))


def _above(lines: Mapping[int, str], numbers: list[int]) -> Iterator[int]:
    depth, other = 0, False
    for number in numbers:
        begins = False  # whether this line begins the arm
        for word in reversed([*_words(lines[number])]):
            if word in _CLOSERS:
                depth += 1
            elif word in _OPENERS:
                other, depth = other and depth > 0, max(0, depth - 1)
            elif not depth:
                begins = not other and not word.startswith(";")
                other = True
        if other and not begins:
            yield number


def _below(lines: Mapping[int, str], numbers: list[int], ended: bool) -> Iterator[int]:
    depth, other = 0, ended
    for number in numbers:
        ends = False  # whether this line ends the arm
        for word in _words(lines[number]):
            if word in _OPENERS:
                depth += 1
            elif word in _CLOSERS:
                other, depth = other and depth > 0, max(0, depth - 1)
            elif not depth:
                ends = not other and word.startswith(";")
                other = True
        if other and not ends:
            yield number


def _words(text: str) -> Iterator[str]:
    if not text.lstrip().startswith("#"):
        for match in _WORDS.finditer(text[:_LONGEST]):
            yield match[1] or match[2]
