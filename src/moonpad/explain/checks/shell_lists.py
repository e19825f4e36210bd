"""`command: ["sh", "-c", "vllm", "serve"]`: a shell runs the word behind -c alone, and the others are its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import STARTERS
from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity

_NEXT: Final = r"(?:[\"']?[ \t]*,[ \t]*[\"']?|[\"']?[ \t]*\n[ \t]*-[ \t]+[\"']?)"
_BEGINS: Final = re.compile(r"-l?e?c[\"',]|-l?e?c$")
_LOSES: Final = re.compile(
    rf"(?:/bin/|/usr/bin/)?(?:ba|z|da)?sh{_NEXT}-l?e?c{_NEXT}(?P<word>(?:{STARTERS})){_NEXT}(?P<next>(?!--[\"'\s,])[\w./-]+)"
)


def words_behind_one(case: Case) -> Iterator[Remark]:
    """In a list of a manifest or of a Dockerfile."""
    script = case.script
    if not is_first(case.commands, script) or not any(_BEGINS.search(line) for line in script.lines):
        return
    script.budget.work(len(script.lines), "its lists")
    text = "\n".join(script.lines)
    match = _LOSES.search(text)
    if match is None:
        return
    line = text.count("\n", 0, match.start("word")) + 1
    word, lost = match["word"], match["next"]
    message = f'{script.where(line)}: sh -c runs "{word}" alone: "{lost}" and all behind it are arguments of the shell'
    remedy = f"write the list without sh and -c, or one text: sh -c '{word} {lost} …'"
    remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "-c", message, remedy)
    yield Remark(remark.finding, command=None)
