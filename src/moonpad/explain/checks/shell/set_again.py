"""Variables that a script sets a second time before anything has read the first value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.roles import ROLES
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_EXPORT: Final = re.compile(r"export[ ]+(?P<name>[A-Za-z_]\w*)=(?P<value>[^\s#;&|()$`]*)[ \t]*(?:#.*)?$")
_QUIET: Final = re.compile(
    r"[ \t]*(?:#.*|(?:export[ ]+)?[A-Za-z_]\w*=[^;&|]*|cat[ ]+<<-?.*|cat[ ]+>+.*<<.*|echo[ ].*|set[ ][-+].*"
    r"|unset[ ].*)?$"
)
"""Lines that start nothing."""
_HEREDOC: Final = re.compile(r"<<-?[ \t]*[\"']?(?P<end>[A-Za-z_]\w*)[\"']?")
_LONGEST: Final = 500
_MOST_LINES: Final = 2000


def set_again(case: Case) -> Iterator[Remark]:
    """`export A=2`, and lines below `export A=1`: what stands for the other role was copied with the name of this."""
    script = case.script
    if script.markdown or len(script.lines) > _MOST_LINES or script.origins[1:]:
        return
    if not is_first_server(case.commands, script):
        return
    script.budget.work(2 * len(script.lines), "its variables")
    given: dict[str, tuple[str, int]] = {}
    told: set[str] = set()
    for number, line in _outside_heredocs([line[:_LONGEST] for line in script.lines], given):
        match = _EXPORT.match(line)
        if match is None:
            if not _QUIET.match(line):
                given.clear()  # what is started may read them, and a branch may be the other one
            continue
        name, value = match["name"], match["value"].strip("\"'")
        first = given.get(name)
        given[name] = (value, number)
        if first is None or first[0] == value or not value or not first[0] or name in told or not _of_role(name):
            continue
        told.add(name)
        message = f"{script.where(number)}: {name} becomes {shortened(value, 40)}, which was set to "
        message += f"{shortened(first[0], 40)} in {script.where(first[1])}: nothing reads the first value"
        remedy = "keep one of them, or write the name of the other role"
        yield replace(make_remark(Severity.WARNING, Code.CONFLICT, name, message, remedy), command=None)


def _outside_heredocs(lines: Sequence[str], given: dict[str, tuple[str, int]]) -> Iterator[tuple[int, str]]:
    """Numbered; what a text that is written reads is no longer `given`."""
    end = ""
    for number, line in enumerate(lines, 1):
        for name in re.findall(r"(?<!\\)\$\{?([A-Za-z_]\w*)", line):
            given.pop(name, None)
        if end:
            end = "" if line.strip() == end else end
            continue
        yield number, line
        if match := _HEREDOC.search(line):
            end = match["end"]


def _of_role(name: str) -> bool:
    """Names that say of which role they are: others are set again to choose between ways."""
    return any(role in name.casefold() for role in ROLES)
