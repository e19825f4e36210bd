"""The server that a program in Python asks, where a comment of it alone says how that is started."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.explain.python.signs import is_python
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.source_text import Source

_STARTS: Final = re.compile(
    r"[ \t]*#+[ \t]*(?:(?:\d{1,2}[.)]|[-*$>])[ \t]+)?(?:(?:[Rr]un|[Ss]tart|[Ss]erver)[\w ]{0,30}:[ \t]*)?"
    rf"(?=(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*(?:python[0-9.]*[ \t]+(?:-m[ \t]+)?)?(?:{SPEAKING.pattern}))"
)
"""`# Start: vllm serve m`, `#   1. python -m sglang.launch_server …`."""
_GOES_ON: Final = re.compile(r"[ \t]*#+[ \t]*(?=-|[A-Za-z./])")
_LONGEST: Final = 1000


def read_commented_servers(state: ScriptState, texts: Sequence[tuple[int, str]]) -> None:
    """Raises UsageError beyond the limits."""
    for start, text in texts:
        if "#" not in text or not is_python(text):
            continue
        state.budget.work(text.count("\n"), "the comments of its programs")
        lines, goes_on, found = text.split("\n"), False, False
        for at, line in enumerate(lines):
            mark = (_GOES_ON if goes_on else _STARTS).match(line[:_LONGEST])
            found |= mark is not None
            lines[at] = " " * mark.end() + line[mark.end() :] if mark is not None else " " * len(line)
            goes_on = mark is not None and line.rstrip().endswith("\\")
        if found:
            Shell(state, Source.block(state.text, start, "\n".join(lines))).read()
