"""Copies of a pod that a node cannot have at the same time: by their port, or by their devices during a rollout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from yaml import Node

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import fields_of, inner, number_of, own_container, text_of
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_GPUS: Final = ("nvidia.com/gpu", "amd.com/gpu")
_ONE_NODE: Final = re.compile(
    r"\b(?:one|single|1|only)[ -](?:(?:GPU|big|large|bare-?metal|\d+[ -]?x?[ -]?GPU|[HABL]\d{2,3}\w?)[ -]){0,2}"
    r"(?:node|machine|server|host|box)\b(?!s)",
    re.IGNORECASE,
)
_SHORT: Final = re.compile(r"\bInsufficient (?:nvidia|amd)\.com/gpu", re.IGNORECASE)
_PENDING: Final = re.compile(r"\bpending\b", re.IGNORECASE)
_CHANGES: Final = re.compile(
    r"\broll(?:out|ing|s out)\b|\bnew (?:pod|replica)|\bold (?:pod|one|replica)|\bupgrad|\bredeploy|\bhelm upgrade\b"
    r"|\b(?:chang|updat|edit)\w*\b[^.\n]{0,40}\b(?:flag|image|tag|arg|apply)",
    re.IGNORECASE,
)
_WHOLE_NODE: Final = 8


def port_of_host(case: Case) -> Iterator[Remark]:
    """`replicas: 2` with `hostNetwork: true`: a node has each port once."""
    found = own_container(case)
    if found is None or found[0].kind != "Deployment" or found[0].templated:
        return
    holder, container, pod = found
    replicas = number_of(inner(holder.fields, "spec", "replicas"))
    devices = _devices(container.get("resources"))
    if text_of(pod.get("hostNetwork")) != "true" or replicas is None or replicas < 2 or devices is None:
        return
    if "affinity" in pod or "topologySpreadConstraints" in pod or devices >= _WHOLE_NODE:
        return
    one_node = is_in_lines(_ONE_NODE, case.script.lines, 1000)
    line = case.script.where(holder.offset + pod["hostNetwork"].start_mark.line)
    where = "they are on one node" if one_node else "two of them may come to one node"
    message = (
        f"{line}: with hostNetwork the {replicas} replicas have the ports of their nodes, and {where}: the second "
    )
    message += "stays pending (no free ports), or cannot bind its port"
    remedy = "leave hostNetwork out, or keep the replicas apart by podAntiAffinity on as many nodes"
    severity = Severity.WARNING if one_node else Severity.NOTE
    yield replace(make_remark(severity, Code.CONFLICT, "hostNetwork", message, remedy), command=None)


def rollout_without_room(case: Case) -> Iterator[Remark]:
    """A new pod that waits for the devices of the old one, which ends when the new one is ready."""
    found = own_container(case)
    if found is None or found[0].kind != "Deployment" or found[0].templated:
        return
    holder, container, _ = found
    spec = fields_of(inner(holder.fields, "spec"))
    strategy = fields_of(spec.get("strategy"))
    surge = text_of(inner(strategy, "rollingUpdate", "maxSurge"))
    devices = _devices(container.get("resources"))
    if text_of(strategy.get("type")) == "Recreate" or surge in ("0", "0%") or not devices:
        return
    lines = case.script.lines
    waits = is_in_lines(_SHORT, lines, 1000) or (
        is_in_lines(_PENDING, lines, 1000) and is_in_lines(_ONE_NODE, lines, 1000)
    )
    if not waits or not is_in_lines(_CHANGES, lines, 1000):
        return
    message = "a rollout starts the new pod before the old one ends (maxSurge 25 % is one pod more), and each needs "
    message += f"{devices} device{'s' * (devices > 1)}: where no node has as many free it stays pending, and the old "
    message += "one goes on"
    remedy = "write strategy: {type: Recreate}, or maxSurge: 0 with maxUnavailable: 1"
    yield replace(make_remark(Severity.WARNING, Code.CONFLICT, "strategy", message, remedy), command=None)


def _devices(resources: Node | None) -> int | None:
    fields = fields_of(resources)
    for key in ("limits", "requests"):
        amounts = fields_of(fields.get(key))
        for name in _GPUS:
            if name in amounts:
                return number_of(amounts[name])
    return None
