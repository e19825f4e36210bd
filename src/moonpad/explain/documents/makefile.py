"""The commands of a Makefile: the lines of its recipes, with the variables that it sets.

Source: https://www.gnu.org/software/make/manual/make.html#Recipe-Syntax.
"""

from __future__ import annotations

import re
from typing import Final

from moonpad.explain.commands import Piece
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.source_text import IGNORED, Source

_RULE: Final = re.compile(
    r"^[A-Za-z0-9_.%/-][\w.%/$(){} -]*::?(?![=])[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*\t[^\s#]", re.MULTILINE
)
_NO_MAKE: Final = re.compile(r"^[ ]+[\w-]+:[ \n]|^[ ]*- |^#!|^(?:FROM|def|import|from|class) ", re.MULTILINE)
"""Lines of YAML, of a script, of a Dockerfile or of Python."""
_ASSIGNED: Final = re.compile(r"^(?:export[ ]+)?([A-Za-z_]\w*)[ ]*(?:[:?]{0,2}=)[ ]*([^#\n]*)", re.MULTILINE)
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
        name, value = match[1], match[2].strip()
        known[name] = _VARIABLE.sub(lambda each: known.get(each[1] or each[2], each[0]), value)
        if _VARIABLE.search(known[name]) is None:
            first, last = start + match.start(2), start + match.start(2) + len(value)
            word = state.text.word(known[name], first, last, (Piece(0, len(known[name]), first, last),))
            shell.scope.set(name, word, export=False)
    for match in _RECIPE.finditer(text):
        state.budget.work(20 + len(match[1]) // 20, "its recipes")
        line = (
            _SILENT.sub(lambda sign: " " * len(sign.group()), match[1], count=1) if match[1][:1] in "@+-" else match[1]
        )
        line = _VARIABLE.sub(lambda each: f"${{{each[1] or each[2]}}}", line).replace("$$", f"{IGNORED}$")
        Shell(state, Source.block(state.text, start + match.start(1), line), shell.scope).read()
