"""Command lines of YAML that reach a shell as one line: a text that YAML folds (`command: >`), in a part of a manifest
within a thread, and the file of a proxy that starts servers by itself (`cmd: |` under `models:`), which makes one line
of the block, without its comments."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from moonpad.explain.source_text import Source

_BLOCK: Final = re.compile(r"[ \t\0]*cmd:[ \t]*\|[-+]?[ \t]*(?:#.*)?")
FOLDED: Final = re.compile(r"[ \t\0]*(?:-[ ]+)*(?:[\w.-]+:[ \t]+|-[ ]+)>[-+]?[ \t]*(?:#.*)?")
"""Above the lines that YAML joins to one."""
_FOLDS: Final = re.compile(r"(?:^|\n)[ \t\0]*(?:-[ ]+)*(?:[\w.-]+:[ \t]+|-[ ]+)>[-+]?[ \t]*(?:#[^\n]*)?\n")
_MODELS: Final = re.compile(r"^(?:models|macros):[ \t]*(?:#.*)?$", re.MULTILINE)
_BESIDE: Final = re.compile(
    r"^[ \t\0]+(?:ttl|proxy|aliases|useModelName|checkEndpoint|cmdStop|concurrencyLimit):(?:[ \t]|$)", re.MULTILINE
)
"""Keys beside the commands, where a model's part of the file stands alone, without a key above."""
_ABOVE: Final = re.compile(r"^[A-Za-z_][\w-]*:[ \t]*(?:#.*)?$", re.MULTILINE)
_FENCE: Final = re.compile(r"^[ \t\0>]*(?:```|~~~)", re.MULTILINE)
_SHELL: Final = re.compile(r"[ \t\0]*(?:(?:/usr)?/bin/)?(?:ba|z)?sh\b")
_BEHIND: Final = re.compile(r"(?:\n[ \t\0]*(?:#[^\n]*)?(?=\n))*\n([ \t\0]*)(?:(?P<option>--?[A-Za-z])|(?=[\w$./]))")
"""The next line with an option or a word, over those that are empty or a comment."""
_LINES: Final = 80


def next_option_of_block(source: Source, start: int) -> int | None:
    """Of the end of a line at `start`: where the next line of its block begins, if YAML or the proxy joins the two."""
    opens = FOLDED if _folds(source.whole.clean) else None
    opens = _BLOCK if _of_proxy(source.whole.clean) else opens
    behind = _BEHIND.match(source.text, start) if opens else None
    if opens is None or behind is None or (least := _least_indent(source, start, opens)) is None:
        return None
    if opens is FOLDED and behind[0].count("\n") > 1:
        return None  # an empty line ends the line of the shell too
    if behind["option"]:
        return behind.start(1)
    if opens is FOLDED and source.in_pieces:
        return None  # YAML was read, and has kept the ends of lines that it keeps
    text, place = source.whole.clean, source.origin(behind.end(1), behind.end(1))[0]
    return behind.start(1) if place - text.rfind("\n", 0, place) - 1 >= least else None


def _least_indent(source: Source, start: int, opens: re.Pattern[str]) -> int | None:
    """Of the lines of the block that a line belongs to, up to that one; None where it stands in no such block."""
    text, place = source.whole.clean, source.origin(start, start)[0]
    line = text.rfind("\n", 0, place) + 1
    first = text[line:place]
    least = _indent(first)
    for _ in range(_LINES):
        source.whole.budget.work(3, "its words")
        if line == 0:
            return None
        above = text.rfind("\n", 0, line - 1) + 1
        written = text[above : line - 1]
        if opens.fullmatch(written):
            of_block = _indent(written) < least and _SHELL.match(first) is None
            return least if of_block else None
        if written.strip(" \t\0"):
            first, least = written, min(least, _indent(written))
        line = above
    return None


@lru_cache(maxsize=4)
def _folds(text: str) -> bool:
    return ">" in text and _FOLDS.search(text) is not None


@lru_cache(maxsize=4)
def _of_proxy(text: str) -> bool:
    if "cmd:" not in text:
        return False
    if _MODELS.search(text) is not None:
        return True
    parts = (part for part in _FENCE.split(text) if "cmd:" in part)
    return any(_BESIDE.search(part) is not None and _ABOVE.search(part) is None for part in parts)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t\0"))
