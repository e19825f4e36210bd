"""Words that are another one but for a slip."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_WAY: Final = re.compile(
    r"--(?:(?:attn|moe|attention)-)?(?:(?:tp|pp|dp|ep|sp|cp|dcp|pcp|ulysses|ring)-size"
    r"|(?:(?:decode|prefill)-)?(?:tensor|pipeline|data|expert|sequence|context)-parallel-size)"
)
_DIGITS: Final = re.compile(r"[\d.]+", re.ASCII)
_NO_NAME: Final = re.compile(r"[A-Za-z_]\w*[-.][\w.-]*", re.ASCII)
"""What a manifest may hand to a process as the name of a variable, and no shell sets."""


def cannot_be_typed(variable: str) -> bool:
    """Whether a shell takes `NAME=value` for a command, as of `VLLM-ASCEND_ENABLE_NZ`."""
    return _NO_NAME.fullmatch(variable) is not None


def is_another_number(word: str, known: Iterable[str]) -> bool:
    """`glm53` where `glm47` is known: it may be that of a model which is newer than all that is recorded."""
    plain = _DIGITS.sub("", word.casefold())
    return plain != word.casefold() and any(_DIGITS.sub("", other) == plain for other in known)


def is_size(option: str) -> bool:
    """Whether it is called as a way to share a model out, `--cp-size`: another one is not what is meant."""
    return _WAY.fullmatch(option.replace("_", "-")) is not None


def one_apart(one: str, other: str) -> bool:
    """Whether a letter is missing, too much or another one, or two beside each other have changed places. A letter at
    the end makes a word of its own: `name` and `names`."""
    if abs(len(one) - len(other)) == 1:
        short, long = sorted((one, other), key=len)
        first = next((place for place, letter in enumerate(short) if letter != long[place]), len(short))
        return first < len(short) and short[first:] == long[first + 1 :]
    places = [place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right]
    if len(one) != len(other) or not 1 <= len(places) <= 2:
        return False
    first, last = places[0], places[-1]
    swapped = last == first + 1 and one[first : last + 1] == other[first : last + 1][::-1]
    return swapped or (first == last and one[first].isalpha() and other[first].isalpha())
