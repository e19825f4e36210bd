"""Labels by which an object of Kubernetes finds its pods, against those that the pods have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    PodObject,
    fields_of,
    inner,
    is_cut,
    items_of,
    object_of,
    pod_objects,
    text_of,
)
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_WITH_PODS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"})
_MADE_PODS: Final = _WITH_PODS | {"Pod", "Job", "LeaderWorkerSet", "InferenceService", "DynamoGraphDeployment"}
_POOL: Final = "InferencePool"
"""Of the inference extension of the Gateway API: it picks pods as a Service does."""
Labels = Mapping[str, str]


def selectors(case: Case) -> Iterator[Remark]:
    """A Deployment whose own selector does not fit its pods, and a Service that finds none of them."""
    if not case.script.objects or not (objects := pod_objects(case.script)):
        return
    holder = object_of(case, objects)
    if holder is None or holder.templated or holder.kind not in _WITH_PODS:
        return
    labels = _labels(holder)
    chosen = _texts(holder, "spec", "selector", "matchLabels")
    if labels is None:
        chosen_first = _missing(chosen, {})
        if chosen_first and _has_none(holder) and not is_cut(case.script, holder) and not _is_kustomized(case):
            message = f"the selector asks for {chosen_first}, and the template gives its pods no labels: Kubernetes"
            yield _refused(f"{message} refuses it (selector does not match template labels)")
        return
    if other := _missing(chosen, labels):
        message = f"the selector asks for {other}, and the pods have {_said(labels, other)}: Kubernetes refuses it"
        yield _refused(message)
    if len([each for each in objects if each.kind in _MADE_PODS]) > 1:
        return  # a Service may be for another
    for service in objects:
        asked = _texts(service, "spec", "selector")
        if service.kind == _POOL and "matchLabels" in asked:
            asked = _texts(service, "spec", "selector", "matchLabels")
        if service.kind not in ("Service", _POOL) or service.templated or not asked or asked.keys() - labels.keys():
            continue
        if other := _missing(asked, labels):
            name = shortened(text_of(inner(service.fields, "metadata", "name")), 40)
            message = (
                f"the {service.kind} {name} asks for {other}, and the pods have {_said(labels, other)}: it sends to "
            )
            message += "none"
            yield _remark("spec.selector", message, f"write the label of the pods in the {service.kind}")


def port_by_name(case: Case) -> Iterator[Remark]:
    """`targetPort: http` of a Service whose pods give none of their ports that name."""
    if not case.script.objects or not (objects := pod_objects(case.script)):
        return
    holder = object_of(case, objects)
    if holder is None or holder.templated or holder.kind not in _WITH_PODS:
        return
    labels, pod = _labels(holder), fields_of(inner(holder.fields, "spec", "template", "spec"))
    containers = [
        fields_of(each) for key in ("containers", "initContainers") for each in items_of(pod.get(key)) if key in pod
    ]
    ports = [fields_of(port) for container in containers for port in items_of(container.get("ports"))]
    named = {text_of(port.get("name")) for port in ports}
    for service in objects:
        asked = _texts(service, "spec", "selector")
        if service.kind == _POOL and "matchLabels" in asked:
            asked = _texts(service, "spec", "selector", "matchLabels")
        if service.kind not in ("Service", _POOL) or service.templated or not asked or not labels:
            continue
        if not asked.items() <= labels.items():
            continue
        for port in items_of(inner(service.fields, "spec", "ports")):
            node = fields_of(port).get("targetPort")
            target = text_of(node)
            if node is None or not target or target.isdigit() or target in named or not _is_known(target):
                continue
            message = (
                f"{case.script.where(service.offset + node.start_mark.line)}: the Service sends to the port named "
            )
            message += f"{shortened(target, 40)}, and the pods name "
            message += f"{', '.join(sorted(filter(None, named))[:3])} alone" if any(named) else "none of theirs"
            remedy = f"give the container's port name: {target}, or write its number as targetPort"
            yield _remark("targetPort", f"{message}: it sends to none", remedy)
            return


def _labels(holder: PodObject) -> Labels | None:
    """Of the pods that it makes; None where they are not all known."""
    metadata = fields_of(inner(holder.fields, "spec", "template", "metadata"))
    labels = fields_of(metadata.get("labels"))
    texts = {key: text_of(node) for key, node in labels.items()}
    return texts if texts and all(_is_known(text) for text in texts.values()) else None


def _has_none(holder: PodObject) -> bool:
    """Whether the pods are described to the end, and no label of theirs among it."""
    template = fields_of(inner(holder.fields, "spec", "template"))
    labels = fields_of(template.get("metadata")).get("labels")
    return bool(fields_of(template.get("spec"))) and not fields_of(labels) and not text_of(labels)


def _is_kustomized(case: Case) -> bool:
    """Whether something adds labels to what is written: `commonLabels`, patches."""
    return any("kustomiz" in line or "commonLabels" in line for line in case.script.lines)


def _texts(holder: PodObject, *path: str) -> Labels:
    return {key: text_of(node) for key, node in fields_of(inner(holder.fields, *path)).items()}


def _missing(chosen: Labels, labels: Labels) -> str:
    """The first that is chosen and is not there, `app=kimi`."""
    return next((f"{key}={text}" for key, text in chosen.items() if _is_known(text) and labels.get(key) != text), "")


def _said(labels: Labels, other: str) -> str:
    key = other.partition("=")[0]
    return f"{key}={shortened(labels[key], 40)}" if key in labels else f"no label {shortened(key, 40)}"


def _is_known(text: str) -> bool:
    return bool(text) and not set(text) & set("<>{}$")


def _refused(message: str) -> Remark:
    remedy = "write the same label in spec.selector.matchLabels and in the template"
    return replace(_remark("spec.selector", message, remedy), stops=True)


def _remark(where: str, message: str, remedy: str) -> Remark:
    return Remark(make_remark(Severity.WARNING, Code.CONFLICT, where, message, remedy).finding, command=None)
