"""The interpreter with which pm2 runs a program: node, where the name of the file does not say another one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_APPS: Final = re.compile(r"^[ \t]*[\"']?apps[\"']?[ \t]*:[ \t]*\[")
_SCRIPT: Final = re.compile(r"[\"']?\bscript[\"']?[ \t]*:[ \t]*[\"'`](?P<path>[\w./~@-]+)[\"'`]")
_INTERPRETER: Final = re.compile(r"[\"']?\b(?:exec_)?interpreter[\"']?[ \t]*:")
_COMPILED: Final = re.compile(r"llama|\.(?:sh|py|js|mjs|cjs|ts|bin|exe)$")
_NEAR: Final = 15
_LONGEST: Final = 1000


def interpreter_of_pm2(case: Case) -> Iterator[Remark]:
    """`script: "/opt/venv/bin/vllm"` without interpreter: a program in Python whose name has no ending."""
    lines, own = case.script.lines, case.commands[0].line
    if not is_in_lines(_APPS, lines, _LONGEST) or not is_first_server(case.commands, case.script):
        return
    for number in range(max(1, own - _NEAR), min(len(lines), own + _NEAR) + 1):
        match = _SCRIPT.search(lines[number - 1][:_LONGEST])
        if match is None or _COMPILED.search(match["path"]):
            continue
        around = lines[max(0, number - _NEAR) : number + _NEAR]
        if any(_INTERPRETER.search(line[:_LONGEST]) for line in around):
            return
        message = f"{case.script.where(number)}: pm2 runs {shortened(match['path'], 60)} with node, as its name has no "
        message += "ending that says another interpreter: SyntaxError"
        remedy = 'add interpreter: "none", or the python of its environment'
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "interpreter", message, remedy)
        yield replace(remark, command=None)
        return
