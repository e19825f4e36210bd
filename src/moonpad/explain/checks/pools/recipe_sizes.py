"""Devices of a role in a recipe for several machines, against its nodes and against the ranks that it starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_NUMBER: Final = re.compile(
    r"[ \t]+(?P<key>[a-z_]{5,20})[ \t]*:[ \t]*[\"']?(?P<number>[1-9][0-9]{0,3})[\"']?[ \t]*(?:#.*)?$"
)
_ROLES: Final = ("prefill", "decode", "agg")
_BEGIN: Final = re.compile(r"(?P<indent>[ \t]*)resources:[ \t]*(?:#.*)?$")
_LONGEST: Final = 200


def devices_of_role(case: Case) -> Iterator[Remark]:
    """`gpus_per_decode: 4` of one worker on two nodes of four."""
    if case.commands[0] is not next(iter(case.script.commands), None):
        return
    case.script.budget.work(len(case.script.lines), "the resources of its roles")
    for first, sizes in _resources(case.script.lines):
        per_node = sizes.get("gpus_per_node", 0)
        for short in _ROLES:
            each, nodes = sizes.get(f"gpus_per_{short}", 0), sizes.get(f"{short}_nodes", 0)
            workers = sizes.get(f"{short}_workers", 1)
            if not each or not nodes or not per_node or each * workers == nodes * per_node:
                continue
            if nodes * per_node % workers or each * workers < per_node:
                continue  # several workers may share a node
            told = f"{workers} worker{'s' if workers > 1 else ''} on {nodes} nodes of {per_node}"
            message = f"{case.script.where(first)}: gpus_per_{short} is {each}, and {told} have "
            message += f"{nodes * per_node // workers} each"
            remedy = f"write {nodes * per_node // workers}, or as many nodes as it takes"
            where = f"gpus_per_{short}"
            yield Remark(make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy).finding, command=None)


def _resources(lines: Sequence[str]) -> Iterator[tuple[int, dict[str, int]]]:
    """The line of each `resources:`, and the numbers directly below it."""
    for number, line in enumerate(lines, 1):
        begin = _BEGIN.match(line[:_LONGEST])
        if begin is None:
            continue
        sizes: dict[str, int] = {}
        for below in lines[number : number + 40]:
            if below.strip() and len(below) - len(below.lstrip()) <= len(begin["indent"]):
                break
            if match := _NUMBER.match(below[:_LONGEST]):
                sizes.setdefault(match["key"], int(match["number"]))
        yield number, sizes
