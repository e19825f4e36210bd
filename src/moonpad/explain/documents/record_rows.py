"""A command behind the name of its row, in a block that is a table of names and values and is not for a shell: `launch`
in front of `vllm serve …` is not a program, and the deeper lines below it go on without a backslash."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

from moonpad.engines.foreign_names import SPEAKING

_ROW: Final = re.compile(
    r"[ \t]{0,8}(?:[A-Za-z][\w/.-]{0,30}(?:[ ][\w/.()-]{1,30}){0,3}[:：]?)?(?:[ ]{2,60}|(?<=[:：])[ ])(?=[^\s\\#])"
)
"""The name of a row up to its value; a line without a name goes on, or has another value of the row."""
_SETS: Final = re.compile(r"(?P<space>[ ]{3,})env[ ]+(?P<sets>[A-Z][A-Z0-9_]*=[^\s'\"`$;&|<>()]{0,200})(?=[ ]{2,}|$)")
_START: Final = re.compile(
    rf"(?:[A-Z][A-Z0-9_]*=\S{{1,200}}[ ]+)*(?:\S{{0,100}}/)?(?:python3?[ ]+)?(?:{SPEAKING.pattern})"
)
_LEAST: Final = 3
"""Other rows whose values begin in the same column."""
_LONGEST: Final = 2000


def commands_of_rows(lines: list[str]) -> list[tuple[int, str]]:
    """Of such a table, the variables that it names and each start, with the offset in the block and in the order in
    which a shell needs them; none where it is another text. Blanks stand for the names, and for the ends of lines."""
    short = [line[:_LONGEST] for line in lines]
    column = _column(short)
    if not column:
        return []
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    settings, commands = list[tuple[int, str]](), list[tuple[int, str]]()
    open_row = False
    for at, line in enumerate(short):
        row = _ROW.match(line)
        begin = row.end() if row is not None else len(line) - len(line.lstrip())
        if open_row and begin > column and not line[:column].strip():
            place, text = commands[-1]
            commands[-1] = place, f"{text} {lines[at]}"
        elif found := _SETS.match(line) if begin == column else None:
            lead = " " * (len(found["space"]) + len("env ") - len("export "))
            settings.append((starts[at], f"{lead}export {found['sets']}"))
            open_row = False
        elif open_row := begin == column and _START.match(line, begin) is not None:
            commands.append((starts[at], " " * begin + lines[at][begin:]))
    return [*settings, *commands]


def _column(lines: list[str]) -> int:
    """Where the values of the rows begin; 0 where no start stands among them, or the lines are not rows of a table."""
    begun = [row.end() for line in lines if line[:1].strip() and (row := _ROW.match(line)) is not None]
    for line in lines:
        row = _ROW.match(line)
        if row is not None and line[:1].strip() and _START.match(line, row.end()) and begun.count(row.end()) > _LEAST:
            return row.end()
    return 0
