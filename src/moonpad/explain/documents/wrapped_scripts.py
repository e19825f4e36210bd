"""Scripts of several lines between two single backticks, as some reports have them in place of a fence: Markdown makes
one sentence of them, and their authors meant a block."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_OPENS: Final = re.compile(
    r"[ \t]{0,8}`(?!`)(?=(?:export|unset|source|set|ulimit)[ \t]|#!/|[A-Za-z_]\w*=)"
    r"[^`\n]*(?:`[^`\n]*`[^`\n]*)*"
)
"""A backtick that is not closed on its line, in front of what only a script begins with."""
_COMMAND: Final = re.compile(r"[ \t]{0,8}`(?!`)[A-Za-z_./~][^`\n]*[ \t]\\[ \t]*")
"""The same in front of a command that goes on below, up to the backtick that closes it."""
_ENDS: Final = re.compile(r"[^`\n]*(?:`[^`\n]*`[^`\n]*)*`[ \t\0]*")
_BEYOND: Final = re.compile(r"[ \t>]*(?:`{3}|~{3})|#{2,6}[ \t]|[ \t]*</?details>")
_MOST: Final = 400
"""Lines of one script."""
_FEWEST: Final = 2


def opens_script(line: str) -> bool:
    """Whether a script over several lines may begin in it."""
    return _OPENS.fullmatch(line) is not None or _COMMAND.fullmatch(line) is not None


def length_of_script(lines: Sequence[str]) -> int:
    """How many lines it has, its last with the backtick that ends it, or all up to where something else begins: a
    paste may be cut. 0 where it is none."""
    if not lines or not opens_script(lines[0]):
        return 0
    closed = _OPENS.fullmatch(lines[0]) is None  # a command, which ends where it is closed
    for number, line in enumerate(lines[1:_MOST], 1):
        if closed and (not line.strip(" \t\0") or _BEYOND.match(line)):
            return 0
        if _BEYOND.match(line):
            return number if number >= _FEWEST else 0
        if _ENDS.fullmatch(line):
            return number + 1 if number >= _FEWEST else 0
    return len(lines) if _FEWEST <= len(lines) <= _MOST and not closed else 0


def without_marks_of_code(lines: Sequence[str]) -> str:
    """The script, each character at its place."""
    first = lines[0].replace("`", " ", 1)
    *middle, last = lines[1:]
    last = last.rstrip(" \t\0")[:-1] if _ENDS.fullmatch(last) else last
    return "\n".join((first, *middle, last))


def without_wrapping(text: str) -> str:
    """A text in which such scripts are read as the rest is."""
    if "\n`" not in f"\n{text}":
        return text
    lines, at = text.split("\n"), 0
    while at < len(lines):
        length = length_of_script(lines[at : at + _MOST]) if opens_script(lines[at]) else 0
        if length:
            lines[at : at + length] = without_marks_of_code(lines[at : at + length]).split("\n")
        at += length or 1
    return "\n".join(lines)
