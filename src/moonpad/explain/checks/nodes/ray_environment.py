"""Variables of a machine that joins a Ray cluster: its workers have those that Ray was started with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.surrounding_names import OF_RAY_NODE
from moonpad.explain.checks.check_case import Case
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity

_NAMES: Final = rf"(?:{OF_RAY_NODE}|(?:NCCL|GLOO|TP|HCCL|RCCL)_SOCKET_IFNAME|NCCL_IB_HCA|HCCL_IF_IP)"
_ALONE: Final = re.compile(rf"[ \t]*(?P<name>{_NAMES})=[^\s;&|]+[ \t]*(?:#.*)?")
_EXPORTED: Final = re.compile(rf"[ \t]*export[ \t]+(?P<name>{_NAMES})=")
_STARTS: Final = re.compile(r"[ \t]*(?:\w+=\S+[ \t]+)*ray[ \t]+start\b")
_ALL: Final = re.compile(r"\bset[ \t]+-[a-z]*a|allexport")
_FENCE: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_MOST: Final = 10
_NEAREST: Final = 40


def environment_of_ray(case: Case) -> Iterator[Remark]:
    """`VLLM_HOST_IP=10.0.0.12` on a line of its own above `ray start`, or exported below it. Told once for a text."""
    script = case.script
    if script.objects or not is_first_server(case.commands, script):
        return
    lines = dict(numbered(script, 1, len(script.lines)))
    starts = [number for number, text in lines.items() if _STARTS.match(text)][:_MOST]
    served = [each.line for each in script.commands if is_server(each.program)]
    for start in starts:
        first = next((at for at in range(start, max(start - _NEAREST, 0), -1) if _FENCE.match(lines[at])), 0)
        above = [lines[at] for at in range(max(first, start - _NEAREST, 1), start)]
        if any(_ALL.search(text) for text in above):
            continue
        for at in range(max(first, start - _NEAREST, 1), start):
            match = _ALONE.fullmatch(lines[at])
            continued = lines.get(at - 1, "").rstrip().endswith("\\")
            if match is None or continued or _is_exported(match["name"], above):
                continue
            message = f"{script.where(at)}: {match['name']} is set without export, and ray start below does not get it"
            yield _said(match["name"], message, f"write export {match['name']}=…")
            return
        last = next((at for at in range(start + 1, start + _NEAREST) if at not in lines or _FENCE.match(lines[at])), 0)
        if not last or last not in lines or any(start < line < last for line in served):
            continue
        for at in range(start + 1, last):
            match = _EXPORTED.match(lines[at])
            if match is not None and not _is_exported(match["name"], above):
                message = (
                    f"{script.where(at)}: {match['name']} is set behind ray start, whose processes, and the engine's "
                )
                message += "workers on this machine, have the variables of before"
                yield _said(match["name"], message, "set it above ray start")
                return


def _is_exported(name: str, lines: list[str]) -> bool:
    return any(re.search(rf"\bexport\b[^#\n]*\b{name}\b|\$\{{?{name}\b", text) for text in lines)


def _said(where: str, message: str, remedy: str) -> Remark:
    return Remark(make_remark(Severity.WARNING, Code.DEAD_ENV, where, message, remedy).finding, command=None)
