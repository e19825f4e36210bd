"""Options of Dynamo's frontend, which stands before the workers and starts no engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_FRONTEND: Final = re.compile(r"\bdynamo\.frontend\b")
_ENDS: Final = re.compile(r"\bimage:|\bcommand:|\bdynamo\.(?!frontend)\w+|^\s*$|^```")
_PATH: Final = re.compile(r"--model-path(?:[=\s\"',\\-]+([\w./$<{~-]+)|[\"',\s\\]*$)")
_VALUE: Final = re.compile(r"\s*(?:-\s+)?[\"']?([\w./$<{~-]+)")
_OF_THE_HUB: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)
_NEAR: Final = 30
"""Lines of one command, a list of a manifest among them."""


def path_of_frontend(case: Case) -> Iterator[Remark]:
    """It reads the tokenizer from a directory, and does not download."""
    script = case.script
    if not is_first(case.commands, script) or not any(_FRONTEND.search(line) for line in script.lines):
        return
    script.budget.work(len(script.lines), "its frontends")
    left, waits = 0, False
    for number, text in numbered(script, 1, len(script.lines)):
        if _FRONTEND.search(text):
            left = _NEAR
        elif left and _ENDS.search(text):
            left = 0
        if not left:
            waits = False
            continue
        left -= 1
        match = _VALUE.match(text) if waits else _PATH.search(text)
        waits = match is not None and not waits and match[1] is None
        if match is not None and match[1] and _OF_THE_HUB.fullmatch(match[1]):
            message = (
                f"{script.where(number)}: Dynamo's frontend takes a directory, and {match[1]} is a name of the Hub"
            )
            remedy = "leave --model-path out: the workers tell it their model; or give the folder of the weights"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "--model-path", message, remedy)
            yield Remark(remark.finding, command=None)
            return
