"""The release that a text came to and fails with: `upgraded from 0.26.0 to 0.27.0`, `works on 0.24.0 but not on
0.25.1`. The name of an engine may stand in front of a number, and that of something else may not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from moonpad.engines import ENGINES
from moonpad.values.versions import order

_RELEASE: Final = (
    r"(?:(?P<of_{0}>[A-Za-z][\w-]{{1,30}})[ ])?[`*\"'(]{{0,3}}v?"
    r"(?P<{0}>0\.\d{{1,2}}\.\d{{1,2}}(?:\.?(?:rc|post|dev)\d{{1,4}}){{0,2}})"
    r"(?![\w-]|\.\w|[ ]?(?:%|GiB|GB|ms\b|s\b|x\b))[`*\"')]{{0,3}}"
)
_IN: Final = r"(?:in|on|with|under|using|up[ ]to|until)[ ](?:the[ ])?"
_BEFORE: Final = _RELEASE.format("before")
_NOW: Final = _RELEASE.format("now")
_FAILS: Final = r"(?:not|fail(?:s|ed|ing)?|crash(?:es|ed)?|broken?|breaks|hangs?|hung|errors?|dies|stopped|OOMs?)"
_WORKED: Final = r"\b(?:work(?:s|ed|ing)?|ran|runs|fine|ok|good|loads?|loaded|starts?|started)"
_PAIRS: Final = (
    re.compile(
        rf"\b(?:(?:upgrad|updat|bump|mov|switch)(?:ed|ing)|after[ ](?:the[ ]|an[ ])?(?:upgrade|update|switch))"
        rf"(?P<of_both>(?:[ ][\w-]{{1,20}}){{0,3}}?)[ ]from[ ]{_BEFORE}[ ]to[ ]{_NOW}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\bupgrade(?:[ ](?P<of_both>[\w-]{{1,20}}))?[ ]from[ ]{_BEFORE}[ ]to[ ]{_NOW}[^.\n]{{0,80}}?\b{_FAILS}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_WORKED}(?:[ ](?:well|fine|ok))?[ ]{_IN}{_BEFORE}[^.\n]{{0,40}}?\b{_FAILS}\b(?:[ ]to[ ]\w{{3,8}})?[ ]"
        rf"(?:{_IN}|since[ ]|after[ ])?{_NOW}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?<![\w.]){_BEFORE}[ ]{_WORKED}\b[^.\n]{{0,20}}?[,;:.]?[ ](?:but[ ]|and[ ]|while[ ]|then[ ])?{_NOW}[ ]"
        rf"(?:does[ ]|did[ ])?{_FAILS}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:regress\w*|broke[n]?|breaks)\b[^.\n]{{0,30}}?[ ](?:from[ ])?{_BEFORE}[ ]?(?:->|=>|→|to)[ ]?{_NOW}"
        rf"|(?<![\w.]){_RELEASE.format('former')}[ ]?(?:->|=>|→)[ ]?{_RELEASE.format('later')}"
        rf"[^.\n]{{0,80}}?\b(?:{_FAILS}|regress\w*)\b",
        re.IGNORECASE,
    ),
)
_WORDS: Final = frozenset(
    {"version", "release", "nightly", "build", "tag", "image", "container", "docker", "stable"}
    | {"the", "my", "our", "it", "and", "but", "while", "then", "on", "in", "with", "engine", "server"}
)
"""What may stand in front of a number and is no name."""
_LONGEST: Final = 2000


def release_after_change(lines: Iterable[str]) -> str:
    """The only one of a text, where it is the later one of the two; "" where there is none."""
    texts = (line[:_LONGEST] for line in lines if "0." in line[:_LONGEST])
    found = {now for text in texts for before, now in _pairs(text) if order(before) < order(now)}
    return found.pop().lower() if len(found) == 1 else ""


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    for pattern in _PAIRS:
        for match in pattern.finditer(line):
            named = match.groupdict()
            before, now = named["before"] or named.get("former"), named["now"] or named.get("later")
            words = " ".join(text for key, text in named.items() if key.startswith("of_") and text).split()
            if before and now and all(map(_is_no_other, words)):
                yield before, now


def _is_no_other(word: str) -> bool:
    """Whether it is an engine's name, or none at all."""
    return word.casefold() in _WORDS or any(name.fullmatch(word) for name in _engines())


@cache
def _engines() -> tuple[re.Pattern[str], ...]:
    names = (name for engine in ENGINES.values() for name in engine.command_line.names)
    return tuple(re.compile(name, re.IGNORECASE) for name in names)
