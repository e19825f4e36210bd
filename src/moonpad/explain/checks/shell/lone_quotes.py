"""Values of YAML with a quote at one of their ends alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_NAME: Final = re.compile(r"[ \t]*-[ \t]+name:[ \t]+[\"']?(?P<name>[A-Za-z_]\w*)[\"']?[ \t]*$")
_VALUE: Final = re.compile(
    r"[ \t]+value:[ \t]+(?P<value>[^\s\"'#\[{|>&*!%@`$][^\"'#\n]*)(?P<quote>[\"'])[ \t]*(?:#.*)?$"
)


def lone_quote(case: Case) -> Iterator[Remark]:
    """`value: 8"` of a variable: the quote is part of a plain value, and no program reads it as the number."""
    script = case.script
    if not is_first_server(case.commands, script):
        return
    name = ""
    for number, text in numbered(script, 1, len(script.lines)):
        if (match := _VALUE.match(text)) and name:
            value = shortened(match["value"], 60)
            message = f"{script.where(number)}: the quote at the end has no other, so it is part of the value: {name} "
            message += f"is {value}{match['quote']}"
            remedy = f'write value: "{value}"'
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, name, message, remedy)
            yield Remark(remark.finding, command=None)
            return
        found = _NAME.match(text)
        name = found["name"] if found else ""
