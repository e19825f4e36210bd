"""Errors that people break over several lines when they paste them: shown whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.engines import program_words
from moonpad.engines.log_lines import behind_front

_LONGEST: Final = 2_000
_MOST: Final = 3
_ERROR: Final = re.compile(r"(?:\w{1,60}\.){0,8}\w{0,60}(?:Error|Exception): \S")
_ENDED: Final = re.compile(r"[.!?;)\]}\"'`”][ \t]*$")
_GOES_ON: Final = re.compile(r"(?:[a-z(<>=&|+*/,]|--[a-z]|\d+[ ][a-z])")
"""How a line begins that is the rest of a sentence."""
_OTHER: Final = re.compile(
    r"File \"|Traceback|During handling|The above|at [\w.$]+\(|raise\b|return\b|self\.|\w+\(.*\)$|[\w.]+ = |\^|~|`{3}"
    rf"|(?:{program_words.PROGRAMS}|python3?|docker|export|curl)\b"
)


def continued(text: str, number: int, lines: Sequence[str]) -> str:
    """The error, whose line has that number, from 1, with the lines that go on with its sentence."""
    if _ERROR.search(text) is None:
        return text
    for line in lines[number : number + _MOST]:
        below = line[:_LONGEST].strip()
        if not below or behind_front(line) or _OTHER.match(below) or line[:1] in "#>*|`~" or len(text) > _LONGEST:
            break
        if not _GOES_ON.match(below) and (_ENDED.search(text) or not _is_open(text)):
            break
        if _ENDED.search(text) and not _is_open(text):
            break
        text = f"{text.rstrip()} {below}"
    return text


def _is_open(text: str) -> bool:
    """Whether a quote or a bracket is open at its end, or a word that another follows."""
    return (
        text.count("'") % 2 == 1
        or text.count("(") > text.count(")")
        or text.count("[") > text.count("]")
        or re.search(r"\b(?:is|are|not|to|the|a|an|of|with|for|and|or|set|must|require|be|by)[ \t]*$", text) is not None
    )
