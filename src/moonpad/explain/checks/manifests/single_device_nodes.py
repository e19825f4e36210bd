"""Pods that ask for more devices than a node of their kind has: a DGX Spark has one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import fields_of, own_container, text_of
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first_server, numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_RESOURCE: Final = "nvidia.com/gpu"
_LABEL: Final = re.compile(
    r"[ \t]*(?:-[ \t]+)?(?:key:[ \t]*)?[\"']?(?P<label>[\w./-]*(?:dgx[-_]?spark|(?<![a-z0-9])gb10(?![0-9]))[\w./-]*)"
    r"[\"']?(?::[ \t]|[ \t]*$)",
    re.IGNORECASE,
)
"""A label of nodes, as a key of its own or behind `key:`."""
_SELECTS: Final = re.compile(r"[ \t]*(?:nodeSelector|nodeAffinity|nodeSelectorTerms|matchExpressions):")


def more_than_a_node_has(case: Case) -> Iterator[Remark]:
    """`nvidia.com/gpu: "8"` in a pod that selects its nodes by a label of DGX Sparks."""
    script = case.script
    found = own_container(case) if script.objects and is_first_server(case.commands, script) else None
    if found is None:
        return
    holder, container, _ = found
    limits = fields_of(fields_of(container.get("resources")).get("limits"))
    asked = text_of(limits.get(_RESOURCE)).strip()
    if not asked.isdigit() or int(asked) <= 1:
        return
    line = case.commands[0].line
    first, last = next(((a, b) for a, b in script.objects if a <= line <= b), (1, 0))
    lines = list(numbered(script, first, last))
    if not any(_SELECTS.match(text) for _, text in lines):
        return
    label = next((match["label"] for _, text in lines if (match := _LABEL.match(text))), "")
    if not label:
        return
    place = script.where(holder.offset + limits[_RESOURCE].start_mark.line)
    message = (
        f"{place}: the pod asks for {asked} GPUs, and its nodes, by the label {label}, are DGX Sparks, which have "
    )
    message += "one each: on them it stays pending"
    remedy = f"write {_RESOURCE}: 1 and start one pod a machine, by a LeaderWorkerSet or Ray"
    yield replace(make_remark(Severity.WARNING, Code.CONFLICT, _RESOURCE, message, remedy), command=None)
