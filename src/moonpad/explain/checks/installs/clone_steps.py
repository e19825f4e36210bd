"""Steps of an installation that need to be in the clone, and stand beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_CLONE: Final = re.compile(
    r"[ \t]*(?:\$[ \t]+)?git[ \t]+clone(?:[ \t]+-{1,2}[a-z][\w-]*(?:[= ][\w./-]+(?=[ \t]+\S))?)*"
    r"[ \t]+[\"']?(?:https?://|git@|ssh://)\S+?/(?P<name>[\w.-]+?)(?:\.git)?/?[\"']?[ \t]*(?:#.*)?"
)
"""Without a folder of its own choice behind the address."""
_INSIDE: Final = re.compile(
    r"[ \t]*(?:\$[ \t]+)?(?P<step>git[ \t]+(?:submodule|checkout|switch|apply|lfs[ \t]+pull)\b)"
)
_RELATIVE: Final = re.compile(
    r"[ \t]*(?:\$[ \t]+)?(?:cd[ \t]+[\w.-]+(?:/[\w.-]+)*[ \t]*(?:&&|$)|(?:bash[ \t]+|sh[ \t]+)?\./)"
)
"""The next step, in a folder or with a file of the clone."""
_NOTHING: Final = re.compile(r"[ \t]*(?:#.*)?")


def beside_the_clone(case: Case) -> Iterator[Remark]:
    """`git clone …` and `git submodule update` in the next line of the same block, without `cd` between them."""
    script = case.script
    if not is_first(case.commands, script):
        return
    cloned = ""
    lines = list(numbered(script, 1, len(script.lines)))
    for at, (number, text) in enumerate(lines):
        step = _INSIDE.match(text) if cloned else None
        if step is not None:
            written = " ".join(step["step"].split())
            following = lines[at + 1][1] if at + 1 < len(lines) else ""
            more = f", and so does {shortened(following.strip(), 40)}" if _RELATIVE.match(following) else ""
            message = (
                f"{script.where(number)}: {written} runs beside the clone, in a folder that is no repository{more}"
            )
            remedy = f"write cd {shortened(cloned)} in front of it"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, written, message, remedy)
            yield Remark(remark.finding, command=None)
            return
        clone = _CLONE.fullmatch(text)
        cloned = clone["name"] if clone is not None else cloned if _NOTHING.fullmatch(text) else ""
