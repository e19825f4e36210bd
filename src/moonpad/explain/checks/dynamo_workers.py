"""Workers of Dynamo: they take the engine's own options, and not those of its server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from moonpad.engines.base import Reading
from moonpad.engines.command_line import CommandLine
from moonpad.explain.commands import Command, Script
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity

_MODULE: Final = re.compile(r"dynamo\.(?!frontend|router)\w+")
_FRONTEND: Final = re.compile(r"frontend:\s*$")
_TYPE: Final = re.compile(r"\s+type:\s*[\"']?dynamo\b")


def by_module(command: Command) -> bool:
    return any(_MODULE.fullmatch(word.text) for word in command.prefix)


def is_worker(command: Command, script: Script) -> bool:
    """By its module, or by the recipe that it is made of."""
    if by_module(command):
        return True
    span = next(((low, high) for low, high in script.objects if low <= command.line <= high), None)
    if span is None:
        return False
    lines = [text[:200] for text in script.lines[span[0] - 1 : span[1]]]
    script.budget.work(len(lines) // 4, "its engine commands")
    return any(_FRONTEND.match(above) and _TYPE.match(below) for above, below in pairwise(lines))


def worker_remarks(command: Command, reading: Reading, line: CommandLine) -> Iterator[Remark]:
    """Options of the server alone, of the engine whose parser of tools needs a switch."""
    if not line.auto_tools:
        return
    own = f"--dyn-{line.tool_parser.lstrip('-')}"
    for flag in (line.auto_tools, line.tool_parser):
        place = reading.parsed.occurrence(flag)
        if place is None:
            continue
        value = place.value if isinstance(place.value, str) else ""
        remedy, words = "leave it out", tuple[str, ...]()
        if flag == line.tool_parser and value:
            remedy, words = f"write {own} {value}", (own, value)
        message = "belongs to the engine's own server: Dynamo's worker refuses it"
        edits = [Edit(place.index, place.length, words)] if by_module(command) else []
        code, severity = Code.UNKNOWN_FLAG, Severity.WARNING
        yield make_remark(severity, code, flag, message, remedy, at=place.index, edits=edits)
