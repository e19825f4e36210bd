"""Programs of supervisord: a `command=` of each section, in the environment that it names.

Source: https://supervisord.org/configuration.html#program-x-section-settings.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from moonpad.explain.commands import Piece
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.shell.scope import Scope
from moonpad.explain.source_text import Source

_SECTION: Final = re.compile(r"^[ \t]*\[(?P<name>[^\]\n]{1,100})\][ \t]*$", re.MULTILINE)
_PROGRAM: Final = re.compile(r"^[ \t]*\[program:[^\]\n]{1,100}\][ \t]*$", re.MULTILINE)
_COMMAND: Final = re.compile(r"^command[ \t]*=[ \t]*(?P<text>[^\n]*(?:\n[ \t]+[^\n;#][^\n]*)*)", re.MULTILINE)
_ENVIRONMENT: Final = re.compile(r"^environment[ \t]*=[ \t]*(?P<text>[^\n]*(?:\n[ \t]+[^\n;#][^\n]*)*)", re.MULTILINE)
_PAIR: Final = re.compile(
    r"(?P<name>[A-Za-z_]\w*)=(?:\"(?P<double>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|(?P<bare>[^\s\"',]+))"
)
_REMARK: Final = re.compile(r"[ \t];[^\n]*")
_OTHER: Final = re.compile(r"^#!|^```|<<[-~]?[\"']?\w", re.MULTILINE)
"""A script that writes such a file, and a page."""
_MOST: Final = 20


def is_of_supervisor(text: str) -> bool:
    return _PROGRAM.search(text) is not None and _OTHER.search(text) is None


def read_programs(text: str, start: int, state: ScriptState) -> bool:
    """Adds the command of each program. Whether one of them starts an engine."""
    before = state.budget.commands
    heads = list(_SECTION.finditer(text))
    for number, head in islice(enumerate(heads), _MOST):
        if not head["name"].startswith("program:"):
            continue
        end = heads[number + 1].start() if number + 1 < len(heads) else len(text)
        state.budget.work(20 + (end - head.end()) // 10, "its programs")
        command = _COMMAND.search(text, head.end(), end)
        if command is None:
            continue
        scope = Scope({})
        environment = _ENVIRONMENT.search(text, head.end(), end)
        for pair in _PAIR.finditer(text, *environment.span("text")) if environment is not None else ():
            group = next(name for name in ("double", "single", "bare") if pair[name] is not None)
            first, last = start + pair.start(group), start + pair.end(group)
            word = state.text.word(pair[group], first, last, (Piece(0, last - first, first, last),))
            scope.set(pair["name"], word, export=True)
        value = _REMARK.sub(lambda remark: " " * len(remark[0]), command["text"]).replace("\n", " ")
        Shell(state, Source.block(state.text, start + command.start("text"), value), scope).read()
    return state.budget.commands > before
