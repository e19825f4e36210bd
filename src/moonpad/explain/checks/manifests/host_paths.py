"""Weights on the disk of a node, and several pods that no selector ties to the node that has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    fields_of,
    inner,
    items_of,
    number_of,
    own_container,
    pod_objects,
    text_of,
)
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity

_TIED: Final = ("nodeSelector", "nodeName", "affinity")
_ON_EACH: Final = ("DaemonSet", "PersistentVolumeClaim", "Job", "CronJob")
_DEEP: Final = 14


def weights_of_node(case: Case) -> Iterator[Remark]:
    """A note: a cluster of one node has them, and so may each of several."""
    own = own_container(case)
    if own is None or own[0].templated or own[0].kind in _ON_EACH or any(name in own[2] for name in _TIED):
        return
    path = _path_of_model(case.first.model, own[1], own[2])
    others = (each for each in pod_objects(case.script) if each.kind not in _ON_EACH)
    if path and sum(_mounting(each.fields, path, 1, 0) for each in others) > 1:
        message = (
            f"several pods mount {shortened(path, 60)} of the node that they are on, and no nodeSelector says which "
        )
        message += "has it: on another node they do not find the weights"
        remedy = "add a nodeSelector for the node with the weights, or copy them to every node"
        remark = make_remark(Severity.NOTE, Code.MISSING_FLAG, "nodeSelector", message, remedy)
        yield Remark(remark.finding, command=None)


def _path_of_model(model: str, container: Fields, pod: Fields) -> str:
    """The folder of the node that holds the model's; "" where it lies elsewhere."""
    for mount in map(fields_of, items_of(container.get("volumeMounts"))):
        place, name = text_of(mount.get("mountPath")).rstrip("/"), text_of(mount.get("name"))
        if place and f"{model}/".startswith(f"{place}/"):
            for volume in map(fields_of, items_of(pod.get("volumes"))):
                if text_of(volume.get("name")) == name:
                    return text_of(inner(volume, "hostPath", "path"))
    return ""


def _mounting(fields: Fields, path: str, copies: int, depth: int) -> int:
    """How many pods below these keys mount it, and are tied to no node."""
    if depth > _DEEP:
        return 0
    copies *= max(1, number_of(fields.get("replicas")) or 1)
    volumes = items_of(fields.get("volumes"))
    here = any(text_of(inner(fields_of(volume), "hostPath", "path")) == path for volume in volumes)
    count = copies if here and not any(name in fields for name in _TIED) else 0
    for value in fields.values():
        for each in (value, *items_of(value)):
            if inside := fields_of(each):
                count += _mounting(inside, path, copies, depth + 1)
    return count
