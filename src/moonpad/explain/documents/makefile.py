"""The commands of a Makefile: the lines of its recipes, with the variables that it sets.

Source: https://www.gnu.org/software/make/manual/make.html#Recipe-Syntax.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from moonpad.explain.commands import Piece
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.source_text import IGNORED, Source

_RULE: Final = re.compile(
    r"^[A-Za-z0-9_.%/-][\w.%/$(){} -]*::?(?![=])[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*\t[^\s#]", re.MULTILINE
)
_NO_MAKE: Final = re.compile(r"^[ ]+[\w-]+:[ \n]|^[ ]*- |^#!|^(?:FROM|def|import|from|class) ", re.MULTILINE)
"""Lines of YAML, of a script, of a Dockerfile or of Python."""
_ASSIGNED: Final = re.compile(
    r"^(?:export[ ]+)?([A-Za-z_]\w*)[ ]*(?:[:?]{0,2}=)[ ]*((?:[^#\n\\]|\\.|\\\n)*)", re.MULTILINE
)
_CONTINUED: Final = re.compile(r"[ \t]*\\\n[ \t]*")
_LONGEST: Final = 4_000
"""Characters of a value that is filled in."""
_RECIPE: Final = re.compile(r"^\t((?:[^\n]*\\\n)*[^\n]*)$", re.MULTILINE)
_VARIABLE: Final = re.compile(r"\$\(([A-Za-z_]\w*)\)|\$\{([A-Za-z_]\w*)\}")
_SILENT: Final = re.compile(r"[@+-]+[ \t]*")


def is_makefile(text: str) -> bool:
    return _RULE.search(text) is not None and _NO_MAKE.search(text) is None


def read_makefile(text: str, start: int, state: ScriptState) -> None:
    """Adds the commands of the Makefile `text`, which begins at the offset `start` of the whole."""
    shell = Shell(state, Source.block(state.text, start, text))
    known: dict[str, str] = {}
    for match in _ASSIGNED.finditer(text):
        name, value = match[1], _CONTINUED.sub(" ", match[2]).strip()
        known[name] = _VARIABLE.sub(lambda each: known.get(each[1] or each[2], each[0]), value)
        state.budget.work(len(known[name]) // 20, "its variables")
        if len(known[name]) > _LONGEST:
            del known[name]
        elif _VARIABLE.search(known[name]) is None:
            first, last = start + match.start(2), start + match.start(2) + len(match[2].rstrip())
            word = state.text.word(known[name], first, last, (Piece(0, len(known[name]), first, last),))
            shell.scope.set(name, word, export=False)
    for match in _RECIPE.finditer(text):
        state.budget.work(20 + len(match[1]) // 20, "its recipes")
        line = (
            _SILENT.sub(lambda sign: " " * len(sign.group()), match[1], count=1) if match[1][:1] in "@+-" else match[1]
        )
        Shell(state, _filled_in(line, start + match.start(1), known, state), shell.scope).read()


def _filled_in(line: str, start: int, known: Mapping[str, str], state: ScriptState) -> Source:
    """The line as the shell gets it: make puts values in wherever their names stand, between quotes of a shell too.
    A name that it does not have is left to the shell."""
    parts: list[str] = []
    pieces: list[Piece] = []
    done = length = 0

    def add(text: str, until: int) -> None:
        nonlocal done, length
        if text:
            parts.append(text)
            pieces.append(Piece(length, length + len(text), start + done, start + until))
            length += len(text)
        done = until

    for match in _VARIABLE.finditer(line):
        name = match[1] or match[2]
        add(line[done : match.start()].replace("$$", f"{IGNORED}$"), match.start())
        value = known.get(name)
        if value is None or _VARIABLE.search(value) or not _between_quotes(line, match.start()):
            value = f"${{{name}}}"
        state.budget.work(len(value) // 20, "its recipes")
        add(value.replace("$$", "$"), match.end())
    add(line[done:].replace("$$", f"{IGNORED}$"), len(line))
    return Source("".join(parts), state.text, pieces)


def _between_quotes(line: str, at: int) -> bool:
    """Whether a shell would take a name at `at` as it stands: behind an odd number of single quotes."""
    return line.count("'", 0, at) % 2 == 1
