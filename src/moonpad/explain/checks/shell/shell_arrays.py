"""`$HCAS` of an array of bash: its first element, where all were meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first, numbered
from moonpad.values.finding import Code, Severity

_FILLED: Final = re.compile(
    r"[ \t]*(?:(?:declare|local|readonly)[ \t]+(?:-a[ \t]+)?)?(?P<name>[A-Za-z_]\w{1,60})(?P<more>\+?)=\("
    r"(?P<inner>[^)]*)"
)
_ASSIGNS: Final = re.compile(r"[ \t]*(?:export[ \t]+)?(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>[\"']?\S.*)")
_OF_ONE: Final = re.compile(r"ADDR|HEAD|MASTER|FIRST|MAIN|LEADER|HOST|IP$|NODE|RANK|MODEL|PORT|SERVER|ROOT")
"""Variables of one value, for which the first element may be meant."""
_OTHER_SHELL: Final = re.compile(r"#!.*\b(?:zsh|fish|ksh)\b|\bzsh[ \t]+-\w*c")
_MOST: Final = 20


def array_as_scalar(case: Case) -> Iterator[Remark]:
    """In a variable that libraries or the engine read, or in the command itself."""
    script = case.script
    if not is_first(case.commands, script):
        return
    lines = list(numbered(script, 1, len(script.lines)))
    arrays = _arrays([text for _, text in lines])
    if not arrays:
        return
    read = re.compile(rf"\$(?:\{{(?P<a>{'|'.join(arrays)})\}}|(?P<b>{'|'.join(arrays)})(?![\w\[]))")
    spans = [(command.line, max(word.end_line for word in command.words)) for command in case.commands if command.words]
    for number, text in lines:
        code = text.partition(" #")[0]
        if code.lstrip().startswith("#") or (match := read.search(code)) is None:
            continue
        name = match["a"] or match["b"]
        assigned = _ASSIGNS.fullmatch(code.rstrip())
        if assigned is not None:
            where = assigned["name"]
            if _OF_ONE.search(where) or "$(" in assigned["value"] or "`" in assigned["value"]:
                continue
        elif any(first <= number <= last for first, last in spans):
            where = f"${name}"
        else:
            continue
        message = f"{script.where(number)}: ${name} of an array is its first element alone: the others do not get into "
        message += "the command" if assigned is None else shortened(where, 60)
        whole, joined = f'"${{{name}[@]}}"', f'$(IFS=,; echo "${{{name}[*]}}")'
        remedy = f"write {whole}" if assigned is None else f"join them, as in {joined}"
        remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, shortened(where, 60), message, remedy)
        yield Remark(remark.finding, command=None)
        return


def _arrays(texts: Sequence[str]) -> list[str]:
    """Names of those that hold several elements, and never a text."""
    if any(_OTHER_SHELL.search(text) for text in texts):
        return []
    several: dict[str, None] = {}
    for text in texts:
        match = _FILLED.match(text)
        if match is None:
            continue
        inner = match["inner"].strip()
        if match["more"] or (len(inner.split()) > 1 and "$(" not in inner and "`" not in inner):
            several.setdefault(match["name"], None)
    return [
        name
        for name in list(several)[:_MOST]
        if not any(
            re.search(rf"(?<![\w$]){name}\+?=(?!\()|\b(?:for|read)[ \t](?:[^;]*[ \t])?{name}\b", t) for t in texts
        )
    ]
