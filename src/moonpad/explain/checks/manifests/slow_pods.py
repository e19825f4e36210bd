"""Pods that are slower, or scaled otherwise, than their author meant: too few processors, an autoscaler that looks at
them, a cache of weights that ends with the pod."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    fields_of,
    inner,
    is_cut,
    items_of,
    own_container,
    pod_objects,
    text_of,
)
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.started_ranks import ranks_of
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_QUANTITY: Final = re.compile(r"(?P<number>\d{1,5}(?:\.\d{1,3})?)(?P<thousandths>m?)")
_SCALER: Final = "HorizontalPodAutoscaler"
_OF_PROCESSORS: Final = ("cpu", "memory")
_HUB: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_CACHE: Final = re.compile(r"\.cache/?$|/\.cache/huggingface(?:/hub)?/?$")
_AGAIN: Final = re.compile(
    r"\b(?:each|every) (?:time|(?:new )?pod|start|restart|rollout)\b|download\w* again"
    r"|again and again|\bminutes until\b"
    r"|每次(?:重启|启动)",
    re.IGNORECASE,
)
_LONGEST: Final = 500


def processors_of_ranks(case: Case) -> Iterator[Remark]:
    """`cpu: "2"` in the limits of a container whose engine has eight ranks, a process each."""
    found = own_container(case)
    if found is None or found[0].templated or not case.laid_out or case.commands[0].more:
        return
    limit = text_of(inner(found[1], "resources", "limits", "cpu"))
    match = _QUANTITY.fullmatch(limit)
    ranks = ranks_of(case.first) // (case.first.node.nodes or 1)
    if match is None or ranks < 2:
        return
    cores = float(match["number"]) / (1000 if match["thousandths"] else 1)
    if cores >= ranks:
        return
    message = (
        f"limits.cpu is {limit}, and the engine has a process for each of {ranks} ranks, its scheduler and its API "
    )
    message += "server, all of which wait for their share: the devices idle"
    remedy = f"write {2 * ranks + 2} or more, or no limit of processors"
    yield replace(make_remark(Severity.WARNING, Code.SUBOPTIMAL, "limits.cpu", message, remedy), command=None)


def scaled_by_processors(case: Case) -> Iterator[Remark]:
    """An autoscaler that adds pods by the use of processors or memory, which says nothing of the load of devices."""
    found = own_container(case)
    if found is None:
        return
    name = text_of(inner(found[0].fields, "metadata", "name"))
    for each in pod_objects(case.script):
        target = text_of(inner(each.fields, "spec", "scaleTargetRef", "name"))
        if each.kind != _SCALER or each.templated or not name or target != name:
            continue
        metrics = items_of(inner(each.fields, "spec", "metrics"))
        kinds = [text_of(inner(fields_of(metric), "resource", "name")) for metric in metrics]
        plain = inner(each.fields, "spec", "targetCPUUtilizationPercentage") is not None
        if (kinds and all(kind in _OF_PROCESSORS for kind in kinds)) or (plain and not kinds):
            what = kinds[0] if kinds else _OF_PROCESSORS[0]
            message = (
                f"{case.script.where(each.first)}: the autoscaler looks at {what}, which is nearly the same for an "
            )
            message += "idle engine and for one whose queue is full"
            remedy = (
                "scale by the engine's own numbers, waiting requests or the use of its KV cache, by KEDA or an adapter"
            )
            remark = make_remark(Severity.WARNING, Code.SUBOPTIMAL, "metrics", message, remedy)
            yield replace(remark, command=None)
            return


def cache_of_pod(case: Case) -> Iterator[Remark]:
    """The cache of downloads in an emptyDir: each pod downloads the weights anew."""
    found = own_container(case)
    model = case.first.model.strip("'\"")
    if found is None or found[0].templated or not _HUB.fullmatch(model) or "initContainers" in found[2]:
        return
    mounts = [fields_of(mount) for mount in items_of(found[1].get("volumeMounts"))]
    caches = [mount for mount in mounts if _CACHE.search(text_of(mount.get("mountPath")))]
    volumes = {text_of(volume.get("name")): volume for volume in map(fields_of, items_of(found[2].get("volumes")))}
    for mount in caches:
        volume: Fields = volumes.get(text_of(mount.get("name")), {})
        if "emptyDir" not in volume or is_cut(case.script, found[0]):
            continue
        told = is_in_lines(_AGAIN, case.script.lines, _LONGEST)
        path = text_of(mount.get("mountPath"))
        message = (
            f"{shortened(path, 60)} is an emptyDir, which ends with the pod: each new pod downloads the weights again"
        )
        remedy = "mount a PersistentVolumeClaim or a folder of the node there"
        severity = Severity.WARNING if told else Severity.NOTE
        yield replace(make_remark(severity, Code.SUBOPTIMAL, "emptyDir", message, remedy), command=None)
        return
