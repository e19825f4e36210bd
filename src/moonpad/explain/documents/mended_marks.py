"""Marks of code in Markdown as they were meant: fences of other signs, ends on the line below, backslashes above a
fence, code in a sentence over several lines. All characters keep their places."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.documents.cut_fences import with_ends

_LATE_END: Final = re.compile(r"(?<!`)(`[^`\n]{10,4000})\n`(?=[ \t]*$)", re.MULTILINE)
_QUOTED_FENCE: Final = re.compile(r"^'''[ \t]*$", re.MULTILINE)
_PYTHON: Final = re.compile(r"^(?:import|from|def|class)[ ]", re.MULTILINE)
_FENCE: Final = re.compile(r"[ \t>]{0,12}(?:`{3,}|~{3,})")
_GOES_ON: Final = re.compile(r"\\(?=[ \t]*\Z)")
_SPAN: Final = re.compile(r"[ \t>]{0,12}(?:[-*+][ ])?`(?!`)")
_CLOSES: Final = re.compile(r"\w`[.,:]?[ \t]*\Z")
_LONGEST: Final = 2_000
"""Characters of a line that is prose."""
_MOST_LINES: Final = 12
"""Of code in a sentence."""


def with_marks_mended(text: str) -> str:
    """With `'''` alone on a line as the fence that it was meant for, where no Python is, and the end of code in a
    sentence on its own line, where it stands alone on the next one; what an excerpt cut off has an end."""
    text = _without_open_marks(with_ends(_LATE_END.sub(r"\1`\n", text) if "\n`" in text else text))
    marks = _QUOTED_FENCE.findall(text)
    if len(marks) < 2 or len(marks) % 2 or _PYTHON.search(text):
        return text
    return _QUOTED_FENCE.sub(lambda mark: mark[0].replace("'", "`"), text)


def _without_open_marks(text: str) -> str:
    """Blanks in the place of a backslash above a fence that opens, where a person left the last one of a command, and
    of both marks around code that begins its line and ends in a later one, in a text without fences."""
    if "`" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    outside, opened, substituted = True, -1, False
    document = any(map(_FENCE.match, lines))  # whose code in sentences is read as such
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            if outside and number and (goes_on := _GOES_ON.search(lines[number - 1])):
                lines[number - 1] = _blank(lines[number - 1], goes_on.start())
            outside, opened = not outside, -1
        elif outside and opened >= 0 and _ends_span(line, number - opened):
            lines[opened] = _blank(lines[opened], lines[opened].index("`"))
            lines[number] = _blank(line, line.index("`")) if "`" in line else line
            opened = -1
        if outside and not document and opened < 0 and len(line) < _LONGEST and lines[number].count("`") == 1:
            if _SPAN.match(line):
                opened = number
            elif substituted or "=`" in line:  # what a command of a script prints
                substituted = not substituted
            elif _CLOSES.search(line):  # its beginning was a line of a log
                lines[number] = _blank(line, line.index("`"))
    return "\n".join(lines)


def _ends_span(line: str, behind: int) -> bool:
    """Whether the code ends here, or has no end: at an empty line, or too far `behind` its beginning."""
    return line.count("`") == 1 or not line.strip() or behind > _MOST_LINES


def _blank(line: str, at: int) -> str:
    return f"{line[:at]} {line[at + 1 :]}"
