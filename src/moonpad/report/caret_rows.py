"""A line of a script as rows of a terminal, with carets under what was found in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from rich.cells import cell_len
from rich.text import Text

MAX_LINE: Final = 4000
"""Longer lines of a script are cut for the eye; the findings under them keep their words."""
_INDENT: Final = "  "


class Mark(Struct, frozen=True):
    """`text` is said under the characters from `column` to `end`; with no column, under the whole line."""

    column: int | None
    end: int
    text: Text
    style: str


def source_rows(line: str, marks: Sequence[Mark], width: int, *, marked_only: bool = False) -> Text:
    """The line, broken between words where it is wider than `width` columns, each mark under its row; or only the rows
    that have marks."""
    text = Text()
    rows = list(_rows(line[:MAX_LINE], width - len(_INDENT)))
    waiting = sorted((mark for mark in marks if mark.column is not None), key=lambda mark: mark.column or 0)
    for place, (start, end) in enumerate(rows):
        indent = _INDENT if place == 0 else _INDENT * 3
        final = place == len(rows) - 1
        here = [mark for mark in waiting if mark.column is not None and start <= mark.column < end]
        beyond = [mark for mark in waiting if final and mark.column is not None and mark.column >= end]
        if marked_only and not here and not beyond:
            continue
        text.append(f"{indent}{line[start:end] if final else line[start:end].rstrip()}\n")
        if here:
            text.append_text(_carets(line, start, end, indent, here))
        for mark in (*here, *beyond):
            text.append_text(mark.text)
    for mark in marks:
        if mark.column is None:
            text.append_text(mark.text)
    return text


def _carets(line: str, start: int, end: int, indent: str, marks: Sequence[Mark]) -> Text:
    """One row of carets for all marks of a row; what is marked twice is so once."""
    text = Text(indent)
    at = start
    for mark in marks:
        column = max(mark.column or 0, at)
        under = line[column : min(max(mark.end, column), end)].rstrip()
        if mark.column is not None and mark.column < at and not under:
            continue
        text.append(_blank(line[at:column]))
        text.append("^" * max(1, cell_len(under)), style=mark.style)
        at = column + max(1, len(under))
    text.append("\n")
    return text


def _blank(text: str) -> str:
    """As wide as the text. Tabs stay tabs, so that the caret stands where the eye sees the word."""
    return "".join("\t" if char == "\t" else " " * cell_len(char) for char in text)


def _rows(line: str, width: int) -> Iterator[tuple[int, int]]:
    """Slices of the line, each at most `width` wide, broken in front of a flag or else behind a blank."""
    start = 0
    while True:
        room = width if start == 0 else width - 2 * len(_INDENT)
        end, wide = start, 0
        while end < len(line) and (wide := wide + cell_len(line[end])) <= room:
            end += 1
        if end >= len(line):
            yield start, len(line)
            return
        blank = max(line.rfind(" -", start + (end - start) // 2, end), line.rfind(" --", start + 1, end))
        blank = blank if blank > start else line.rfind(" ", start + 1, end)
        end = blank + 1 if blank > start and line[start:blank].strip() else max(end, start + 1)
        yield start, end
        start = end
