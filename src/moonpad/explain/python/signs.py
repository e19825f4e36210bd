"""Whether a text looks like a program in Python, before anything is read of it."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.foreign_names import PYTHON_CLASSES

_PYTHON: Final = re.compile(
    r"^(?:import \w|from [\w.]+ import |def \w+\(|class \w+|if __name__ ==|subprocess\."
    rf"|(?:\w+ = )?(?:\w+\.)*(?:{'|'.join(PYTHON_CLASSES)})\()",
    re.MULTILINE,
)
_FED: Final = re.compile(
    r"<<-?[ \t]*(?P<quote>[\"'\\]?)(?P<mark>[A-Za-z_]\w{0,40})(?P=quote)?[^\n]*$"
    r"|\bpython[\d.]*[ ]+-c[ ]+(?P<text>[\"'])$",
    re.MULTILINE,
)
"""Where a shell's heredoc begins, or the program of `python3 -c "` on lines of its own."""


def is_python(text: str) -> bool:
    first = text.lstrip("\0\n\t ").partition("\n")[0]
    shell = first.startswith("#!") and "python" not in first
    sign = None if shell else _PYTHON.search(text)
    if sign is None:
        return False
    position = 0
    while (fed := _FED.search(text, position)) is not None and sign is not None and fed.start() < sign.start():
        position = _end_of(fed, text)
        if position > sign.start():
            sign = _PYTHON.search(text, position)
    return sign is not None


def _end_of(fed: re.Match[str], text: str) -> int:
    """Behind what a shell feeds to a program; behind the line that opens it, where nothing closes it."""
    if fed["text"]:
        closed = text.find(f"\n{fed['text']}", fed.end())
    else:
        mark = re.compile(rf"\n\t*{fed['mark']}(?=\n|\Z)").search(text, fed.end())
        closed = mark.start() if mark is not None else -1
    return closed + 1 if closed >= 0 else fed.end()
