"""Variables of a script inside of single quotes, which the shell hands on as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_KEPT: Final = re.compile(r"[\"' :]\$(?:\{(?P<braced>[A-Z][A-Z0-9_]*)\}|(?P<name>[A-Z][A-Z0-9_]*))[\"', }]")
_CALLED: Final = re.compile(r"\$\([^()]*\)|`[^`]*`")
"""What the shell puts there has been run before."""
_LONGEST: Final = 2000


def kept_dollar(case: Case) -> Iterator[Remark]:
    """`'{"engine_id": "$ID"}'` with ID set above: no engine puts a variable there."""
    script = case.script
    for number, command in enumerate(case.commands):
        for at, word in enumerate(command.argv):
            match = _KEPT.search(_CALLED.sub("", word.text)) if word.text[:1] in ("{", "[") else None
            name = (match["braced"] or match["name"]) if match else ""
            if not name or name in word.unresolved:
                continue
            script.budget.work(len(script.lines), "its variables")
            assigned = re.compile(rf"(?:^|[\s;]){name}=")
            if not is_in_lines(assigned, script.lines, _LONGEST):
                continue
            message = (
                f"single quotes keep ${name} as it is written, though the script sets it: each server gets the same "
                "letters in its place"
            )
            remedy = f"end the quotes around it: '…'\"${name}\"'…'"
            remark = make_remark(Severity.WARNING, Code.CONFLICT, f"${name}", message, remedy, at=at)
            yield replace(remark, command=number)
            return
