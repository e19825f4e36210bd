"""`python -m` with a module that is one letter away from what is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import STARTED_MODULES
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.explain.spelling import one_apart
from moonpad.values.finding import Code, Severity

_STARTED: Final = re.compile(r"\bpython[\d.]*[ ]+-m[ ]+(?P<module>[a-z_]+(?:\.[a-z_]+)+)(?=[ \\]|$)")


def misspelt_module(case: Case) -> Iterator[Remark]:
    """`python -m sglang.launch_sever`."""
    if is_first(case.commands, case.script):
        yield from misspelt_modules(case.script)


def misspelt_modules(script: Script) -> Iterator[Remark]:
    """The first of a text."""
    for number, text in numbered(script, 1, len(script.lines)) if any("-m" in line for line in script.lines) else ():
        match = _STARTED.search(text) if " -m " in text else None
        if match is None or match["module"] in STARTED_MODULES or text.lstrip().startswith("#"):
            continue
        meant = next((module for module in STARTED_MODULES if one_apart(match["module"], module)), "")
        if meant:
            message = f"{script.where(number)}: there is no module {match['module']} to start"
            remark = make_remark(
                Severity.WARNING, Code.INVALID_VALUE, match["module"], message, f"start python -m {meant}"
            )
            yield Remark(remark.finding, command=None)
            return
