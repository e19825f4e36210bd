"""Pods, groups of them and services of Compose: devices that they do not ask for, claims under another name, and groups
of another size than the engine waits for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from moonpad.catalog.image_devices import image_devices
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    PodObject,
    fields_of,
    inner,
    items_of,
    own_container,
    pod_objects,
    text_of,
)
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_KINDS: Final = (
    "Pod",
    "Deployment",
    "StatefulSet",
    "Job",
    "DaemonSet",
    "ReplicaSet",
    "LeaderWorkerSet",
    "InferenceService",
)
_GROUP: Final = "LeaderWorkerSet"
_CLAIM: Final = "PersistentVolumeClaim"
_GIVEN: Final = re.compile(r"nvidia\.com/|amd\.com/|huawei\.com/|(?:NVIDIA|CUDA)_VISIBLE_DEVICES|nvidia\.com\\/|\{\{")
_NVIDIA: Final = "nvidia"
_OF_NVIDIA: Final = re.compile(
    r"(?P<resource>nvidia\.com/gpu)[\"']?:[ ]*[\"']?[1-9]|^[ -]*[\"']?driver[\"']?:[ ]*[\"']?nvidia\b"
)
_ASK_FOR: Final = {
    "amd": ("amd.com/gpu", "/dev/kfd", "give the service devices: [/dev/kfd, /dev/dri] in place of the reservation"),
    "ascend": (
        "huawei.com/Ascend910",
        "/dev/davinci",
        "give the service /dev/davinci0 and on, /dev/davinci_manager, /dev/devmm_svm and /dev/hisi_hdc as devices",
    ),
}
"""The row of images → the resource of the maker's device plugin, its device file, and what compose has."""
_NODES: Final = "--nnodes"
_ALIKE: Final = 0.85
_LONGEST: Final = 1000
_DEEPEST: Final = 30
_MOST: Final = 2000


def pod_without_devices(case: Case) -> Iterator[Remark]:
    """A container that says what it needs of processors and memory, and asks for no device."""
    command = case.commands[0]
    found = own_container(case)
    if found is None or command.container is None or case.text("--device") == "cpu" or command.custom or command.more:
        return
    holder, fields, pod = found
    resources = fields_of(fields.get("resources"))
    asked = {**fields_of(resources.get("requests")), **fields_of(resources.get("limits"))}
    if holder.kind not in _KINDS or holder.templated or not asked or "claims" in resources or "<<" in asked:
        return
    if any("/" in key for key in asked) or any(key in pod for key in ("runtimeClassName", "resourceClaims")):
        return
    if text_of(inner(fields, "securityContext", "privileged")) == "true" or not of_nvidia(text_of(fields.get("image"))):
        return
    case.script.budget.work(len(case.script.lines), "its containers")
    if any(_GIVEN.search(line[:_LONGEST]) for line in case.script.lines):
        return
    message = (
        f"the container asks for {', '.join(list(asked)[:3])} and for no device: it gets none, unless the runtime "
    )
    message += "of the node gives all of them to everyone"
    ranks = case.first.layout.tp * case.first.layout.pp if case.laid_out else 1
    remedy = f"add nvidia.com/gpu: {ranks} to its limits"
    yield make_remark(Severity.WARNING, Code.MISSING_FLAG, "resources", message, remedy)


def devices_of_another_maker(case: Case) -> Iterator[Remark]:
    """`nvidia.com/gpu`, or a reservation with `driver: nvidia`, for an image that is for another maker's devices."""
    container, script = case.commands[0].container, case.script
    image = container.image if container is not None else None
    if image is None or image.unresolved or not is_first_server(case.commands, script):
        return
    maker = next((name for name in _ASK_FOR if _is_built_for(name, image.text)), "")
    others = [each.container.image for each in script.commands if each.container is not None]
    if not maker or not all(each is not None and _is_built_for(maker, each.text) for each in others):
        return
    script.budget.work(len(script.lines), "its containers")
    lines = [(at, line[:_LONGEST]) for at, line in enumerate(script.lines, 1) if not line.lstrip().startswith("#")]
    resource, given, instead = _ASK_FOR[maker]
    if any(resource in line or given in line for _, line in lines):
        return
    match = next(((at, found) for at, line in lines if (found := _OF_NVIDIA.search(line)) is not None), None)
    if match is None:
        return
    number, found = match
    message = f"{script.where(number)}: {shortened(image.text, 60)} is built for devices of another maker than NVIDIA: "
    if found["resource"]:
        message += f"their nodes do not offer {found['resource']}, and the pod stays pending"
        instead = f"write {resource}"
    else:
        message += "Docker finds no such driver on their machines, and the container is not started"
    where = found["resource"] or "driver: nvidia"
    yield replace(make_remark(Severity.WARNING, Code.CONFLICT, where, message, instead), command=None, stops=True)


def _is_built_for(maker: str, image: str) -> bool:
    return re.search(image_devices()[maker].image, image, re.IGNORECASE) is not None


def of_nvidia(image: str) -> bool:
    """Whether an image is one that wants NVIDIA's devices."""
    row = image_devices()[_NVIDIA]
    return bool(image) and not unresolved(image) and re.search(row.image, image, re.IGNORECASE) is not None


def group_of_another_size(case: Case) -> Iterator[Remark]:
    """A group of pods that has fewer, or more, members than the engine has nodes."""
    place, nodes = case.option(_NODES), whole(case.text(_NODES)) or 0
    command = case.commands[0]
    found = own_container(case) if place is not None and nodes else None
    if found is None or place is None or found[0].kind != _GROUP or found[0].templated or command.more:
        return
    template = fields_of(inner(found[0].fields, "spec", "leaderWorkerTemplate"))
    size = whole(text_of(template.get("size"))) or 0
    if not size or size == nodes or (size > nodes and "leaderTemplate" in template):
        return
    message = f"the group has {size} {'pod' if size == 1 else 'pods'} (size), and {nodes} nodes are waited for"
    message += ": the start hangs" if size < nodes else ": the pods behind them have ranks that the engine refuses"
    remedy = f"write size: {nodes}, or {_NODES} {size}"
    yield make_remark(Severity.WARNING, Code.CONFLICT, _NODES, message, remedy, at=place.index)


def claim_of_nearly_the_name(case: Case) -> Iterator[Remark]:
    """A claim that the text makes and no pod mounts, and a pod that mounts one of nearly its name."""
    if not case.script.objects or not is_first_server(case.commands, case.script):
        return
    objects = pod_objects(case.script)
    made = {text_of(inner(each.fields, "metadata", "name")) for each in objects if each.kind == _CLAIM}
    if not made or any(each.templated for each in objects):
        return
    mounted = [(name, line) for each in objects if each.kind != _CLAIM for name, line in _mounted(case, each)]
    free = made - {name for name, _ in mounted}
    for name, line in mounted:
        near = [other for other in free if SequenceMatcher(None, name, other).ratio() >= _ALIKE]
        if name in made or unresolved(name) or len(near) != 1:
            continue
        message = f"{case.script.where(line)}: the pod mounts the claim {shortened(name, 60)}, and the text makes "
        message += f"{shortened(near[0], 60)}, which nothing mounts: the pod waits for a claim that does not exist"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, "claimName", message, f"write claimName: {near[0]}")
        yield Remark(remark.finding, command=None)
        return


def _mounted(case: Case, each: PodObject) -> Iterator[tuple[str, int]]:
    steps = 0
    left: list[tuple[Fields, int]] = [(each.fields, 0)]
    while left and steps < _MOST:
        fields, depth = left.pop()
        steps += 1
        name = fields_of(fields.get("persistentVolumeClaim")).get("claimName")
        if name is not None:
            yield text_of(name), each.offset + name.start_mark.line
        if depth < _DEEPEST:
            for node in fields.values():
                left += [(fields_of(part), depth + 1) for part in (items_of(node) or (node,)) if fields_of(part)]
    case.script.budget.work(steps, "the objects of its YAML")


POD_DEVICES: Final = (
    pod_without_devices,
    group_of_another_size,
    claim_of_nearly_the_name,
    devices_of_another_maker,
)
