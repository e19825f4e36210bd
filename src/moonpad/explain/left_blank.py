"""Values that a document leaves out: variables that it leaves empty, as addresses are before they are filled in
(`local_ip=""`), what the user of a script sets (`PORT="${PORT:-}"`), and words for them in a comment
(`--attention-backend # choose one`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.results import Remark
from moonpad.values.finding import Severity
from moonpad.values.records import replace

_NO_VALUE: Final = " needs a value"
_LONGEST: Final = 400
_VARIABLE: Final = re.compile(r"[ \t=]+\"?\$\{?(?P<name>[A-Za-z_]\w{0,60})\}?")
_COMMENT: Final = re.compile(r"[ \t]+#+[ \t]*\w")
_EMPTY: Final = r"^[ \t>]*(?:export[ \t]+)?{}=(?:\"\"|'')?[ \t]*(?:#.*)?$"
_UNTIL_SET: Final = r"(?:^|[ \t;]){0}=\"?\$\{{{0}:?-(?:\"\"|'')?\}}"
"""`PORT="${PORT:-}"`."""


def but_left_blank(remarks: Iterable[Remark], command: Command, script: Script) -> Iterator[Remark]:
    """Of an option whose value is such a variable in a document, that it wants one, as a warning: whoever started it
    had a value there."""
    for remark in remarks:
        if remark.finding.message.endswith(_NO_VALUE) and _is_in_comment(remark, command, script):
            remedy = f"{remark.finding.remedy}: what stands behind # is a comment to the shell"
            remark = replace(remark, finding=replace(remark.finding, remedy=remedy))
        name = _named(remark, command, script) if remark.finding.message.endswith(_NO_VALUE) else ""
        finding = remark.finding
        if name and (number := _first(_UNTIL_SET, name, script)):
            message = f"{finding.message}: {name} is empty until it is set ({script.where(number)})"
            remedy = f"set {name}, or give it a default"
        elif name and script.markdown and (number := _first(_EMPTY, name, script)):
            message = f"{finding.message}: {name} is set to nothing in {script.where(number)}"
            remedy = f"give {name} its value there"
        else:
            yield remark
            continue
        yield replace(remark, finding=replace(finding, severity=Severity.WARNING, message=message, remedy=remedy))


def _is_in_comment(remark: Remark, command: Command, script: Script) -> bool:
    """Whether words stand behind the option on its line, and a # in front of them."""
    word = command.argv[remark.at] if remark.at is not None and remark.at < len(command.argv) else None
    if word is None or not 0 < word.end_line <= len(script.lines):
        return False
    return _COMMENT.match(script.lines[word.end_line - 1][:_LONGEST], word.end_column) is not None


def _named(remark: Remark, command: Command, script: Script) -> str:
    """The variable behind the option."""
    if remark.at is None or remark.at >= len(command.argv):
        return ""
    word = command.argv[remark.at]
    if not 0 < word.end_line <= len(script.lines):
        return ""
    variable = _VARIABLE.match(script.lines[word.end_line - 1][:_LONGEST], word.end_column)
    return variable["name"] if variable else ""


def _first(pattern: str, name: str, script: Script) -> int:
    """The first line with it; 0 where there is none."""
    script.budget.work(len(script.lines), "the text around its engine commands")
    meant = re.compile(pattern.format(re.escape(name)))
    return next((number for number, line in enumerate(script.lines, 1) if meant.search(line[:_LONGEST])), 0)
