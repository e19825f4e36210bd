"""What stands around commands that a text shows: the marks of a trace (`set -x`), and brackets around what may be left
out."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.foreign_names import SPEAKING

_TRACE: Final = re.compile(r"^\++ (?=\S)", re.MULTILINE)
_FEWEST: Final = 2
"""Lines of a trace: one alone may be an item of a list."""
_SAID: Final = re.compile(r"\++ (?:printf|echo)(?= |$)")
_RUN: Final = re.compile(
    rf"\++ (?:[A-Z][A-Z0-9_]*=\S+ )*(?:exec )?(?:\S*python[0-9.]* (?:-\S+ ){{0,3}})?{SPEAKING.pattern}"
)
_SHOWN: Final = re.compile(rf"(?:\S*python[0-9.]* (?:-\S+ ){{0,3}})?{SPEAKING.pattern}")
_BEHIND: Final = re.compile(r" \++ (?:printf|echo) .*")
"""What the trace goes on with behind an output that has no end of line."""
_LONGEST: Final = 60
_FARTHEST: Final = 400
"""Characters of a line in which a command begins, if any does."""
_OPTIONAL: Final = re.compile(r"(?<=\\\n)([ \t]*)\[(--?[A-Za-z][^\[\]\n]{0,300})\](?=[ \t]*\\?$)", re.MULTILINE)
"""A line of options in brackets that a command goes on with."""


def without_marks(text: str) -> str:
    """Of the same length. Of a trace what was run is left; what it printed is not, nor is that once more where it came
    out."""
    if "\\\n" in text and "[-" in text:
        text = _OPTIONAL.sub(r"\1 \2 ", text)
    if "+ " not in text or len(_TRACE.findall(text)) < _FEWEST:
        return text
    lines = text.split("\n")
    said = (_SHOWN.search(line[:_FARTHEST]) for line in lines if _SAID.match(line))
    printed = {shown.string[shown.start() :][:_LONGEST].rstrip() for shown in said if shown is not None}
    runs = any(_RUN.match(line) for line in lines)
    for number, line in enumerate(lines):
        if _SAID.match(line):
            lines[number] = " " * len(line)
        elif mark := _TRACE.match(line):
            lines[number] = " " * mark.end() + line[mark.end() :]
        elif _SHOWN.match(line):
            again = runs and line[:_LONGEST].rstrip() in printed
            left = "" if again else _BEHIND.sub("", line)
            lines[number] = left + " " * (len(line) - len(left))
    return "\n".join(lines)
