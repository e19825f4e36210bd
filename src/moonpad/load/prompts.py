"""Prompts of random words. The same seed and index give the same text, on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from random import Random
from typing import Final

WORDS: Final = tuple((files("moonpad.load") / "words.txt").read_text(encoding="utf-8").split())
"""Short, common and unrelated: one or two tokens each for most tokenizers, and no two prompts look alike."""
FIRST: Final = "year"
"""Begins a prompt of known weights: without a space before it, a word may have another number of tokens."""


def random_prompt(seed: int, index: int, words: int) -> str:
    """`words` words. A negative index is a request that is not measured: warm-up, calibration."""
    return random_words(f"prompt {seed} {index}", words)


def random_words(name: str, words: int) -> str:
    """The same name gives the same words."""
    return " ".join(_picker(name).choices(WORDS, k=words))


def text_of(places: Sequence[int]) -> str:
    """A whole text of `FIRST` and these words (places in `WORDS`)."""
    return " ".join((FIRST, *(WORDS[place] for place in places)))


def weighed(name: str, tokens: int, weights: Sequence[int]) -> list[int]:
    """Words (places in `WORDS`) that have `tokens` tokens together. The same name gives the same words, and for fewer
    tokens nearly the same beginning. `weights`: the tokens of each word after a space; at least one of them is 1.
    """
    picker, places, left = _picker(f"text {name}"), list[int](), tokens
    ones = [place for place, weight in enumerate(weights) if weight == 1]
    while left > 0:
        place = picker.randrange(len(weights))
        if weights[place] > left:
            place = picker.choice(ones)
        places.append(place)
        left -= weights[place]
    return places


def _picker(name: str) -> Random:
    return Random(f"moonpad {name}")  # noqa: S311 - must repeat; nothing secret hangs on it
