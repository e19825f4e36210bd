"""Pods that one template starts for the nodes of one engine: their ranks, and the order in which they come."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    PodObject,
    fields_of,
    inner,
    number_of,
    own_container,
    text_of,
)
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import numbered
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_SET: Final = "StatefulSet"
_GROUP: Final = "LeaderWorkerSet"
_RANK: Final = "--node-rank"
_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,60}[a-z0-9])?")
_PROBES: Final = ("readinessProbe", "startupProbe")
_ASKS: Final = ("httpGet", "tcpSocket")
_SOURCES: Final = {
    _SET: "the label apps.kubernetes.io/pod-index (an env with fieldRef, and $(POD_INDEX))",
    _GROUP: "$(LWS_WORKER_INDEX)",
}


def rank_of_template(case: Case) -> Iterator[Remark]:
    """`--node-rank 0` in the one template of a group of two pods."""
    command, place = case.commands[0], case.option(_RANK)
    found = own_container(case) if place is not None and len(case.commands) == 1 else None
    if place is None or found is None or command.arms or (case.first.node.nodes or 1) < 2:
        return
    holder, rank = found[0], case.text(_RANK).strip("'\"")
    pods = _pods(holder)
    if holder.templated or pods < 2 or not rank.isdigit():
        return
    message = f"all {pods} pods of the group run this line, and so all have rank {rank}: the group is never complete"
    remedy = f"take it from {_SOURCES[holder.kind]}"
    yield make_remark(Severity.WARNING, Code.CONFLICT, place.written, message, remedy, at=place.index)


def ordered_pods(case: Case) -> Iterator[Remark]:
    """A StatefulSet that starts its second pod when the first is ready, which it is when the second has come."""
    found = own_container(case) if (case.first.node.nodes or 1) > 1 else None
    if found is None or found[0].kind != _SET or found[0].templated or _pods(found[0]) < 2:
        return
    holder, container, _ = found
    if text_of(inner(holder.fields, "spec", "podManagementPolicy")) == "Parallel":
        return
    probe = next((name for name in _PROBES if any(key in fields_of(container.get(name)) for key in _ASKS)), "")
    if not probe:
        return
    line = case.script.where(holder.offset + container[probe].start_mark.line)
    message = f"{line}: {probe} succeeds when the server answers, which waits for the ranks of all pods, and a "
    message += "StatefulSet starts each pod when the one before it is ready: the second never comes"
    remark = make_remark(
        Severity.WARNING, Code.CONFLICT, probe, message, "write podManagementPolicy: Parallel in its spec"
    )
    yield replace(remark, command=None)


def service_of_set(case: Case) -> Iterator[Remark]:
    """`kimi-0.kimi-headless`, and a StatefulSet whose serviceName is another: its pods have no such name."""
    found = own_container(case)
    if found is None or found[0].kind != _SET or found[0].templated:
        return
    holder = found[0]
    name, given = text_of(inner(holder.fields, "metadata", "name")), inner(holder.fields, "spec", "serviceName")
    service = text_of(given)
    if given is None or not _NAME.fullmatch(name) or not _NAME.fullmatch(service):
        return
    asked = re.compile(
        rf"(?<![\w.-]){re.escape(name)}-(?:\d{{1,3}}|\$\w+|\$\{{\w+\}}|\$\(\w+\))\.(?P<service>[a-z][a-z0-9-]*)"
    )
    case.script.budget.work(holder.last - holder.first, "its YAML")
    for _, text in numbered(case.script, holder.first, holder.last):
        match = asked.search(text)
        if match is None or match["service"] == service:
            continue
        line = case.script.where(holder.offset + given.start_mark.line)
        message = f"{line}: serviceName is {service}, and the pods are asked for as {shortened(match.group(), 60)}: a "
        message += "pod has its name below its serviceName alone, and this one is not found"
        remark = make_remark(
            Severity.WARNING, Code.CONFLICT, "serviceName", message, f"write serviceName: {match['service']}"
        )
        yield replace(remark, command=None)
        return


def _pods(holder: PodObject) -> int:
    """How many pods its one template makes; 1 where it is of another kind, or has a template for the first."""
    if holder.kind == _SET:
        return number_of(inner(holder.fields, "spec", "replicas")) or 1
    group = fields_of(inner(holder.fields, "spec", "leaderWorkerTemplate"))
    if holder.kind != _GROUP or "leaderTemplate" in group:
        return 1
    return number_of(group.get("size")) or 1
