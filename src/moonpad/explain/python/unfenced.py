"""Python among sentences, where no fence says where it begins: an engine's imports below a question."""

from __future__ import annotations

import re
from typing import Final

from moonpad.engines.foreign_names import PROGRAM_OF
from moonpad.explain.python.text import parsed, read_python
from moonpad.explain.shell.interpreter import ScriptState

_MODULES: Final = "|".join(re.escape(name) for name in PROGRAM_OF if name.isidentifier())
_IMPORT: Final = re.compile(rf"^(?:from (?:{_MODULES})(?:\.\w+)* import [\w(*]|import (?:{_MODULES})\b)", re.MULTILINE)
_ALSO: Final = re.compile(r"(?:import|from) \w|[A-Za-z_]\w* = |os\.environ\[|#|\s*$")
"""Lines in front of it that belong to it."""
_MOST_LINES: Final = 400
_LONGEST: Final = 100_000


def read_unfenced(text: str, start: int, state: ScriptState) -> bool:
    """Reads the longest part of the text that begins with the imports and is Python. Whether it starts an engine."""
    first = _IMPORT.search(text) if len(text) <= _LONGEST and "```" not in text else None
    if first is None or "<<" in text[: first.start()] or parsed(text) is not None:
        return False
    lines = text[first.start() :].split("\n")[:_MOST_LINES]
    begin = first.start()
    for line in reversed(text[:begin].split("\n")[:-1]):
        if not _ALSO.match(line):
            break
        begin -= len(line) + 1
        lines.insert(0, line)
    state.budget.work(len(text) // 4, "Python among its sentences")
    for last in range(len(lines), 0, -1):
        code = "\n".join(lines[:last])
        state.budget.work(len(code) // 40, "Python among its sentences")
        if lines[last - 1].strip() and parsed(code) is not None:
            before = len(state.commands)
            read_python(code, start + begin, state)
            return len(state.commands) > before
    return False
