"""Amounts of memory and of devices in objects of Kubernetes that its API refuses: `memory: 512GB`, devices in requests
alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from yaml import MappingNode, Node, ScalarNode

from moonpad.engines.surrounding_names import GRAPH
from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import Fields, PodObject, fields_of, pod_objects, text_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_KINDS: Final = frozenset({
    *("Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "LeaderWorkerSet"),
    *("PersistentVolumeClaim", "PersistentVolume", GRAPH),
})  # fmt: skip
_QUANTITY: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?", re.ASCII)
_MEANT: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)[ ]?(?P<unit>[A-Za-z]{1,6})", re.ASCII)
_KEYS: Final = frozenset({"memory", "cpu", "storage", "ephemeral-storage", "sizeLimit"})
_SHARED: Final = ("sharedMemory", "size")
_HOLDERS: Final = frozenset({"limits", "requests", "emptyDir", "capacity"})
_DEVICE: Final = re.compile(r"[a-z0-9.-]+\.[a-z]+/(?:gpu|.*npu.*|.*ascend.*)", re.IGNORECASE)
_DEEPEST: Final = 30
_MOST: Final = 2000


def refused_quantities(case: Case) -> Iterator[Remark]:
    """Told once for the text, with its first server."""
    if not is_first_server(case.commands, case.script):
        return
    for each in pod_objects(case.script):
        if each.kind not in _KINDS or each.templated:
            continue
        yield from _of_object(case, each)


def _of_object(case: Case, each: PodObject) -> Iterator[Remark]:
    seen: set[str] = set()
    steps = 0
    for holder, fields in _tables(each.fields, "", 0):
        steps += 1
        case.script.budget.work(1, "the objects of its YAML")
        if steps > _MOST:
            return
        for key, node in fields.items():
            is_quantity = (holder in _HOLDERS and key in _KEYS) or (holder, key) == _SHARED
            text = text_of(node)
            if not is_quantity or not text or unresolved(text) or _QUANTITY.fullmatch(text) or key in seen:
                continue
            match = _MEANT.fullmatch(text)
            if match is None or not isinstance(node, ScalarNode):
                continue
            seen.add(key)
            where = case.script.where(each.offset + node.start_mark.line)
            message = (
                f"{where}: {shortened(text, 40)} is not a quantity of Kubernetes, whose units are Mi, Gi and Ti (or "
            )
            message += "M, G and T): it refuses the object"
            remedy = f"write {key}: {match['number']}{match['unit'][0].upper()}i"
            yield Remark(make_remark(Severity.WARNING, Code.INVALID_VALUE, key, message, remedy).finding, command=None)
        if "requests" in fields and "devices" not in seen and each.kind != GRAPH:
            asked, limits = fields_of(fields["requests"]), fields_of(fields.get("limits"))
            name = next((key for key in asked if _DEVICE.fullmatch(key) and key not in limits), None)
            if name is not None and text_of(asked[name]) not in ("", "0") and "<<" not in limits:
                seen.add("devices")
                where = case.script.where(each.offset + asked[name].start_mark.line)
                message = f"{where}: {name} stands in requests alone: devices need a limit, and Kubernetes refuses the "
                message += "object (Limit must be set for non overcommitable resources)"
                remark = make_remark(Severity.WARNING, Code.MISSING_FLAG, name, message, f"write {name} under limits")
                yield Remark(remark.finding, command=None)


def _tables(fields: Fields, holder: str, depth: int) -> Iterator[tuple[str, Fields]]:
    """Each table of an object with the key that it stands at."""
    yield holder, fields
    if depth > _DEEPEST:
        return
    for key, node in fields.items():
        for inner in _inner(node):
            yield from _tables(fields_of(inner), key, depth + 1)


def _inner(node: Node) -> Iterator[Node]:
    if isinstance(node, MappingNode):
        yield node
    elif isinstance(node.value, list):
        yield from (each for each in node.value if isinstance(each, MappingNode))
