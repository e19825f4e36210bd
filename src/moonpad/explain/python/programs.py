"""Python that stands in a script or in YAML: `python - <<EOF`, `python -c '…'`, a file that the script has written, or
that a ConfigMap holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.explain.commands import Word, Wrapper
from moonpad.explain.programs import base_name
from moonpad.explain.python.signs import is_python
from moonpad.explain.python.text import parsed, read_python
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.shell.wrappers import Peeled
from moonpad.values.records import replace

_SHELL_LINE: Final = re.compile(r"^[ \t]*[!%].*$", re.MULTILINE)
_ASSIGNS: Final = re.compile(r"^(?:[A-Za-z_]\w*(?:, ?[A-Za-z_]\w*){0,5} = |[A-Za-z_][\w.]*\()", re.MULTILINE)
_FILE: Final = re.compile(r"\s*%%writefile\s+(?:-a\s+)?(\S+)")
_NO_SCRIPTS: Final = ("Dockerfile", ".yaml", ".yml", ".json", ".md", ".txt")
_CONTAINER: Final = "docker run"
_PROGRAM: Final = "python program"
"""The wrapper of what a program starts, which is not what its container starts."""
_FARTHEST: Final = 6
"""Words that are looked through for a program's text."""


def read_program(peeled: Peeled, stdin: Word | None, wrappers: Sequence[Wrapper], state: ScriptState) -> bool:
    """Adds the servers that it starts. False where its text is not here, or it starts none. They stay in the container
    of the program."""
    code = _text(peeled.rest, stdin, state)
    if code is None or not is_python(code.text):
        return False
    made, before = len(state.commands), state.budget.commands
    if not read_code(code, state, peeled.env) or state.budget.commands == before:
        return False
    around = [replace(each, words=()) for each in (*wrappers, *peeled.wrappers) if each.kind == _CONTAINER]
    if around:
        outer = (*around, Wrapper(_PROGRAM, ()))
        state.commands[made:] = [
            replace(command, wrappers=(*outer, *command.wrappers)) for command in state.commands[made:]
        ]
    return True


def read_code(code: Word, state: ScriptState, env: Mapping[str, Word] | None = None) -> bool:
    """A text of Python at its place. A block of YAML has its indentation there. False where it is no Python."""
    if len(code.pieces) > 1 and all(piece.exact for piece in code.pieces):
        begin = code.pieces[0].source_start
        line = state.text.clean.rfind("\n", 0, begin) + 1
        if begin > line and not state.text.clean[line:begin].strip():
            return read_python(_as_in_source(code, line, state), line, state, env, indent=begin - line)
    exact = len(code.pieces) == 1 and code.pieces[0].exact
    start = code.pieces[0].source_start if exact else state.text.offset(max(code.line - 1, 0))
    return read_python(code.text, start, state, env)


def _as_in_source(code: Word, start: int, state: ScriptState) -> str:
    """The lines of a block with what stands in front of them in the source, which begins at `start`: what a template
    fills in has the name there that stands for it, which is as long."""
    parts, at = list[str](), start
    for piece in code.pieces:
        if piece.source_start < at:
            continue  # an empty line, which has the place of the end of the one above
        parts += (state.text.clean[at : piece.source_start], code.text[piece.start : piece.end])
        at = piece.source_end
    return "".join(parts)


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
            if (held := state.programs.get(base_name(word))) is not None:
                state.ran_scripts.add(base_name(word))
                return held
            file = state.files.get(word.text) if word.text in state.written else None
            return Word(file.text, file.line) if file is not None else None
    return stdin
