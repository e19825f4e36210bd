"""A layout of Ray Serve against the devices of the cluster that the same RayService describes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from yaml import Node

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    fields_of,
    inner,
    items_of,
    number_of,
    object_of,
    pod_objects,
    text_of,
)
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_RESOURCES: Final = ("nvidia.com/gpu", "amd.com/gpu")
_OWN_BUNDLES: Final = ("resources_per_bundle", "placement_group_config", "placement_group_bundles")
"""Keys by which a deployment says itself what each rank is given: a part of a device, perhaps."""


def ranks_of_service(case: Case) -> Iterator[Remark]:
    """More ranks than the head and the workers have devices, at their most."""
    first = case.first
    if not case.laid_out or case.commands[0].container is not None or not case.script.objects:
        return
    holder = object_of(case, pod_objects(case.script))
    if holder is None or holder.kind != "RayService" or holder.templated:
        return
    lines = case.script.lines[holder.first - 1 : holder.last]
    devices = _devices(fields_of(inner(holder.fields, "spec", "rayClusterConfig")))
    ranks = first.layout.tp * first.layout.pp
    if not devices or ranks <= devices or any(key in line for line in lines for key in _OWN_BUNDLES):
        return
    flag = case.engine.command_line.options.get("tp", "layout")
    message = f"{ranks} ranks, and the head and the workers of this RayService have {devices} devices: the replica "
    message += "waits for more"
    remedy = f"take a layout of {devices} ranks, or more workers"
    place = case.option(flag)
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=at)


def _devices(cluster: Fields) -> int:
    """0 where the text does not say it of each group."""
    total = 0
    scales = text_of(cluster.get("enableInTreeAutoscaling")).lower() == "true"
    for group in items_of(cluster.get("workerGroupSpecs")):
        fields = fields_of(group)
        most, now = number_of(fields.get("maxReplicas")), number_of(fields.get("replicas"))
        pods = most if scales else now if "replicas" in fields else 1
        if pods is None or (each := _of_group(group)) is None:
            return 0
        hosts = number_of(fields.get("numOfHosts")) if "numOfHosts" in fields else 1
        total += pods * each * (hosts or 1)
    head = _of_group(cluster.get("headGroupSpec"))
    return 0 if head is None else total + head


def _of_group(group: Node | None) -> int | None:
    """The devices of one pod, None where they cannot be known."""
    fields = fields_of(group)
    devices = fields_of(fields.get("rayStartParams")).get("num-gpus")
    if devices is not None:
        return number_of(devices)
    total = 0
    for container in items_of(inner(fields, "template", "spec", "containers")):
        limits = fields_of(inner(fields_of(container), "resources", "limits"))
        for name in _RESOURCES:
            if name in limits:
                if (number := number_of(limits[name])) is None:
                    return None
                total += number
    return total
