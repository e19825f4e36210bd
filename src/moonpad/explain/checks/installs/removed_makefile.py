"""A guide that builds an engine by `make` in a clone whose repository has no Makefile any more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import build_steps as steps
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Script
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.programs import base_name
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first
from moonpad.explain.shell.whole_lines import whole_lines
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace
from moonpad.values.versions import since

_PINNED: Final = re.compile(r"[ ](?:--branch|-b)[ =]|\bgit[ ](?:-C[ ]\S+[ ])?(?:checkout|switch|reset)\b")
"""Of another branch, or a commit of before."""
_CONFIGURED: Final = re.compile(r"\bcmake\b")
"""Makes Makefiles of its own, in the folder of the build."""
_LEFT: Final = re.compile(r"\b(?:cd|pushd|WORKDIR)[ \t]+(?P<to>\S+)")
_LONGEST: Final = 4000


def make_without_makefile(case: Case) -> Iterator[Remark]:
    """`git clone …`, `cd … && make -j`, and the program that this would have made."""
    script = case.script
    if not case.engine.facts.gguf_only or case.commands[0].fork or not is_first(case.commands, script):
        return
    if case.version and not since(case.version, steps.WITHOUT_MAKEFILE):
        return
    script.budget.work(len(script.lines), "its builds")
    if not is_in_lines(steps.CLONED, script.lines, _LONGEST) or (found := _made(script)) is None:
        return
    number, written = found
    name = base_name(case.commands[0].prefix[-1]) if case.commands[0].prefix else case.engine.program
    message = (
        f"{script.where(number)}: {shortened(written, 40)} builds nothing any more, and {name} is never there: it "
    )
    message += f"stops with «{steps.SAYS}»"
    remedy = f"write {steps.INSTEAD} ({steps.ON_NVIDIA} in the first for NVIDIA's devices), and start "
    remedy += f"{steps.PROGRAMS_IN}/{name}"
    remark = make_remark(Severity.WARNING, Code.REMOVED_FLAG, "make", message, remedy)
    yield replace(remark, command=None, stops=True)


def _made(script: Script) -> tuple[int, str] | None:
    """The line and the words of the first `make` in the clone; None where the text takes another commit, or configures
    the build before."""
    cloned = inside = False
    for number, whole in whole_lines(script):
        text = whole[:_LONGEST]
        clone = steps.CLONED.search(text)
        if clone is not None:
            cloned, inside = True, False
        if cloned and (_PINNED.search(text) or _CONFIGURED.search(text)):
            return None
        if not cloned:
            continue
        entered = steps.ENTERED.search(text)
        made = steps.MADE.search(text, entered.end() if entered else clone.end() if clone else 0)
        inside = entered is not None or (inside and _LEFT.search(text) is None)
        if made is not None and (inside or steps.IN_FOLDER.search(made["words"])):
            return number, f"make{made['words']}"
    return None
