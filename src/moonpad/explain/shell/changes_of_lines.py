"""Commands within a unified diff: what is read is the text after the change."""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.source_text import IGNORED

_HUNK: Final = re.compile(
    r"^@@ -\d{1,7}(?:,\d{1,7})? \+\d{1,7}(?:,\d{1,7})? @@[^\n]*\n((?:[ +\\-][^\n]*\n|\n)+)", re.MULTILINE
)
_REMOVED: Final = re.compile(r"^-[^\n]*\n?", re.MULTILINE)
_ADDED: Final = re.compile(r"^\+", re.MULTILINE)
_GOES_ON: Final = re.compile(r"\\(?=[ \t]*\n?\Z)")
"""A backslash at the end of a part: the next line of the file is not shown."""
_MARKED: Final = re.compile(r"(?:[ +-][^\n]*(?:\n|\Z)|\n)+")
_MARKS: Final = re.compile(r"^([+-])", re.MULTILINE)


def after_change(text: str) -> str:
    """Of the same length: a line that the change takes out is ignored, its end too, and a mark becomes a blank. A text
    without hunks is one where each line has its mark and both marks occur."""
    if "\n@@ -" in f"\n{text}":
        return _HUNK.sub(lambda hunk: hunk[0][: hunk.start(1) - hunk.start()] + _part(hunk, text), text)
    if text[:1] in ("+", "-", " ") and _MARKED.fullmatch(text) and set(_MARKS.findall(text)) == {"+", "-"}:
        return _after(text)
    return text


def is_change(text: str) -> bool:
    """Whether it is a diff that takes lines out or puts them in place of others, not a whole new file."""
    return after_change(text) != text


def _part(hunk: re.Match[str], text: str) -> str:
    """A command that another part cuts off does not go on in the line that begins it."""
    lines = _after(hunk[1])
    return _GOES_ON.sub(" ", lines) if text.startswith("@@ -", hunk.end()) else lines


def _after(lines: str) -> str:
    return _REMOVED.sub(lambda line: IGNORED * len(line[0]), _ADDED.sub(" ", lines))
