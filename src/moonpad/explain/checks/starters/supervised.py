"""Programs of supervisord: it runs no shell, and has commas between its variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_PROGRAM: Final = re.compile(r"[ \t]*\[program:[^\]\n]+\]")
_COMMAND: Final = re.compile(r"[ \t]*command[ \t]*=[ \t]*(?P<text>.*)$")
_ENVIRONMENT: Final = re.compile(r"[ \t]*environment[ \t]*=[ \t]*(?P<text>.*)$")
_SHELL: Final = re.compile(r"(?:/\S*/)?(?:env[ \t]+)?(?:ba|z|da)?sh[ \t]+-\w*c\b")
_QUOTED: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'")
_SIGN: Final = re.compile(
    r"(?:^|[ \t])(?P<sign>&&|\|\||\||;|>>?|2>&1|&)(?=[ \t]|$)|^(?P<word>cd|source|export|\.)[ \t]"
)
_SET: Final = re.compile(r"^(?P<name>[A-Z_][A-Z0-9_]*)=\S*[ \t]")
_PIECE: Final = re.compile(r"[ \t]*\w+[ \t]*=")
_LONGEST: Final = 2000


def supervised_without_shell(case: Case) -> Iterator[Remark]:
    """`command=cd /opt && vllm serve …`, `command=A=1 vllm serve …`."""
    for number, line in _lines(case):
        match = _COMMAND.match(line)
        if match is None or _SHELL.match(match["text"]):
            continue
        text = _QUOTED.sub("x", match["text"])
        sign = _SIGN.search(text.partition(" ;")[0])
        if sign is not None or (set_ := _SET.match(text)) is not None:
            what = sign["sign"] or sign["word"] if sign is not None else f"{set_['name']}=" if set_ is not None else ""
            message = f"{case.script.where(number)}: supervisord runs no shell: {what} is a program's name or an "
            message += "argument to it"
            remedy = 'write directory= and environment= for them, or command=bash -c "…"'
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, what, message, remedy)
            yield replace(remark, command=None)
            return


def comma_in_environment(case: Case) -> Iterator[Remark]:
    """`environment=CUDA_VISIBLE_DEVICES=0,1`: the comma begins the next variable."""
    for number, line in _lines(case):
        match = _ENVIRONMENT.match(line)
        if match is None:
            continue
        pieces = _QUOTED.sub("x", match["text"].partition(" ;")[0]).split(",")
        broken = next((at for at, piece in enumerate(pieces) if piece.strip() and not _PIECE.match(piece)), 0)
        if broken:
            name = pieces[broken - 1].partition("=")[0].strip() or "the variable"
            for before in reversed(pieces[:broken]):
                if "=" in before:
                    name = before.partition("=")[0].strip()
                    break
            message = f"{case.script.where(number)}: supervisord takes a comma for the end of a variable: the value of "
            message += f"{name} is cut, and the file is refused"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, f'write {name}="…" in quotes')
            yield replace(remark, command=None)
            return


def _lines(case: Case) -> Iterator[tuple[int, str]]:
    if is_in_lines(_PROGRAM, case.script.lines, _LONGEST):
        case.script.budget.once("programs of supervisord", 2 * len(case.script.lines), "the text around its commands")
        for number, line in enumerate(case.script.lines, 1):
            yield number, line[:_LONGEST]
