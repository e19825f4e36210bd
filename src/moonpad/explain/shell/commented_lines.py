"""Comments among the continued lines of a command: whether what stands below them is of that command."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from moonpad.engines.foreign_names import STARTERS
from moonpad.explain.source_text import Source

_BEHIND_COMMENTS: Final = re.compile(r"((?:\n[ \t\0]*#[^\n]*)*\n)([ \t\0]*)(?:(--?[A-Za-z])|(?=([^\n#]+)))")
"""The next line that is no comment: its indentation, and the beginning of a flag or what is written."""
_OPENS: Final = re.compile(
    r"[A-Za-z_]\w*=|[)};&|]|(?:echo|printf|export|local|if|for|while|case|then|else|fi|done|esac|wait|exit|return|sleep|cd"
    r"|set|sudo|docker|podman|curl|wget|python[\d.]*|pip3?|bash|sh|source|kill|ls|cat|tail|nohup|srun|mpirun|ssh|kubectl"
    r"|exec|eval|trap|ray|mkdir|rm)(?![\w/.:-])"
    rf"|{STARTERS}(?![\w/.:-])"
)
"""How a line begins that is a command of its own."""
_OPTION_BEGINS: Final = re.compile(r"[ \t](?=--?[A-Za-z])")
_INDENT: Final = re.compile(r"[ \t\0]*")
_CONTINUED_LINES: Final = 200


def end_of_comments(text: str, start: int, end: int, work: Callable[[int], None]) -> int | None:
    """Where the line below a comment (at `start`, its line ends at `end`) and those that follow it begins, if it is of
    the command above: a flag, or moved in, an image, a model or what goes on itself."""
    behind = _BEHIND_COMMENTS.match(text, end)
    if behind is None:
        return None
    written = (behind[4] or "").rstrip(" \t\0")
    if behind[3] or not written:
        return behind.end(1) if behind[3] else None
    looks = "/" in written.split(" ", 1)[0][1:] or written.endswith("\\")
    goes_on = looks and not _OPENS.match(written) and len(behind[2]) > _indent_of_command(text, start, work)
    return behind.end(1) if goes_on else None


def _indent_of_command(text: str, position: int, work: Callable[[int], None]) -> int:
    """Blanks before the first of the continued lines above the one with this position."""
    line = text.rfind("\n", 0, position) + 1
    for _ in range(_CONTINUED_LINES):
        work(1)
        above = text.rfind("\n", 0, max(line - 1, 0)) + 1
        written = text[above : max(line - 1, 0)].rstrip(" \t\0")
        if line == 0 or not (written.endswith("\\") or written.lstrip(" \t\0").startswith("#")):
            break
        line = above
    blank = _INDENT.match(text, line)
    return blank.end() - line if blank is not None else 0


def below_folded(source: Source, start: int, end: int) -> int | None:
    """Of the comment at `start:end`: where the next line with an option begins, of lines that YAML has put behind it
    (`command: >-`), which makes one line of them."""
    whole = source.whole
    line, _ = whole.place(source.origin(start, start)[0])
    if whole.place(source.origin(end, end)[0])[0] == line:
        return None
    for option in _OPTION_BEGINS.finditer(source.text, start, end):
        place = source.origin(option.end(), option.end())[0]
        number, column = whole.place(place)
        if number > line and not whole.clean[place - column : place].strip():
            return option.end()
    return None
