"""A patch of Kustomize that writes `args` of a container anew: lists of texts are replaced, not merged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.programs import is_server
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_KUSTOMIZATION: Final = re.compile(
    r"^[ \t]*(?:kind:[ \t]*Kustomization\b|patchesStrategicMerge:|patches:)|kustomiz(?:e|ation)", re.IGNORECASE
)
_BEGINS: Final = re.compile(r"[ \t]*-?[ \t]*(?:patch:[ \t]*[|>]|---)|[ \t]*-[ \t]*[|>][-+]?[ \t]*$")
_IMAGE: Final = re.compile(r"[ \t]*-?[ \t]*image:[ \t]*\S")
_OBJECT: Final = re.compile(r"[ \t]*kind:[ \t]*(?:Deployment|StatefulSet|LeaderWorkerSet|Job|DaemonSet)\b")
_MOST: Final = 60
_LONGEST: Final = 500


def list_of_patch(case: Case) -> Iterator[Remark]:
    """`args: ["--max-model-len=131072"]` in a patch of a Deployment whose own arguments name the model."""
    lines, own = case.script.lines, case.commands[0].line
    if case.first.model or not 0 < own <= len(lines) or not is_in_lines(_KUSTOMIZATION, lines, _LONGEST):
        return
    first = next((n for n in range(own, max(0, own - _MOST), -1) if _BEGINS.match(lines[n - 1][:_LONGEST])), 1)
    after = range(own + 1, min(len(lines), own + _MOST) + 1)
    last = next((n for n in after if _BEGINS.match(lines[n - 1][:_LONGEST])), len(lines) + 1) - 1
    inside = [line[:_LONGEST] for line in lines[first - 1 : last]]
    if any(map(_IMAGE.match, inside)) or not any(map(_OBJECT.match, inside)):
        return
    others = (each for each in case.script.commands if is_server(each.program) and each.line != own)
    base = next((each for each in others if each.program == case.commands[0].program and len(each.argv) > 1), None)
    if base is None or first <= base.line <= last:
        return
    message = f"{case.script.where(own)}: a patch puts its list args in the place of the whole one: the model and the "
    message += f"options of {case.script.where(base.line)} are gone"
    remedy = "write all arguments there, or add one by a JSON patch: op: add, path: …/args/-"
    yield replace(make_remark(Severity.WARNING, Code.CONFLICT, "args", message, remedy), command=None)
