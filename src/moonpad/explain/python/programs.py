"""Python that stands in a script: `python - <<EOF`, `python -c '…'`, and a file that the script has written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.python.signs import is_python
from moonpad.explain.python.text import parsed, read_python
from moonpad.explain.shell.interpreter import ScriptState

_SHELL_LINE: Final = re.compile(r"^[ \t]*[!%].*$", re.MULTILINE)
_ASSIGNS: Final = re.compile(r"^[A-Za-z_]\w* = ", re.MULTILINE)
_FILE: Final = re.compile(r"\s*%%writefile\s+(?:-a\s+)?(\S+)")
_NO_SCRIPTS: Final = ("Dockerfile", ".yaml", ".yml", ".json", ".md", ".txt")
_FARTHEST: Final = 6
"""Words that are looked through for a program's text."""


def read_program(words: Sequence[Word], stdin: Word | None, env: Mapping[str, Word], state: ScriptState) -> bool:
    """Adds the servers that it starts. False where its text is not here, or it starts none."""
    code = _text(words, stdin, state)
    if code is None or not is_python(code.text):
        return False
    exact = len(code.pieces) == 1 and code.pieces[0].exact
    start = code.pieces[0].source_start if exact else state.text.offset(max(code.line - 1, 0))
    before = state.budget.commands
    return read_python(code.text, start, state, env) and state.budget.commands > before


def read_cell(cell: Word, state: ScriptState) -> bool:
    """Adds the servers that a cell of a notebook starts by its Python; whether it has lines for a shell too."""
    written = _FILE.match(cell.text)
    if written is not None and written[1].endswith(_NO_SCRIPTS):
        return False
    python = _SHELL_LINE.sub("", cell.text)
    if is_python(cell.text) or (_ASSIGNS.search(python) and parsed(python) is not None):
        read_python(_SHELL_LINE.sub("", cell.text), state.text.offset(max(cell.line - 1, 0)), state)
        return _SHELL_LINE.search(cell.text) is not None
    return True


def _text(words: Sequence[Word], stdin: Word | None, state: ScriptState) -> Word | None:
    for at, word in enumerate(words[1:_FARTHEST], 1):
        if word.text == "-c":
            return words[at + 1] if at + 1 < len(words) else None
        if word.text.endswith(".py"):
            file = state.files.get(word.text) if word.text in state.written else None
            return Word(file.text, file.line) if file is not None else None
    return stdin
