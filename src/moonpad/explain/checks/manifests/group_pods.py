"""Pods and containers that run one engine together: their images, and the devices of all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from yaml import Node

from moonpad.engines import foreign_names as names
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    PodObject,
    fields_of,
    inner,
    items_of,
    object_of,
    pod_objects,
    text_of,
)
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_IMAGE: Final = re.compile(r"(?P<name>[\w.:/-]+?):(?P<tag>[\w.-]+)(?:@.*)?")
_NUMBER: Final = re.compile(r"\d")
_GROUPS: Final = (("leaderTemplate", "workerTemplate"), ("entryTemplate", "workerTemplate"))
_SCALES: Final = ("enableInTreeAutoscaling", "autoscalerOptions")
_PARTS: Final = ("--data-parallel-rank", "--node-rank", "--base-gpu-id", "--split-mode", "--headless")
_DEEPEST: Final = 12


def unlike_images(case: Case) -> Iterator[Remark]:
    """A leader and its workers, a head of Ray and its workers, or the nodes of one engine, of two releases."""
    pairs = [*_of_object(case), *_of_commands(case)]
    for first, other, line in pairs:
        one, two = _IMAGE.fullmatch(first), _IMAGE.fullmatch(other)
        if one is None or two is None or one["name"] != two["name"] or one["tag"] == two["tag"]:
            continue
        if not _NUMBER.search(one["tag"]) and not _NUMBER.search(two["tag"]):
            continue
        message = f"{case.script.where(line)}: {shortened(other, 60)} here, {shortened(first, 60)} on the first node: "
        message += "nodes of one engine take the same release, and Ray refuses a node of another version"
        remedy = f"write {shortened(first, 60)} on all of them"
        remark = make_remark(Severity.WARNING, Code.CONFLICT, "image", message, remedy)
        yield replace(remark, command=None)
        return


def ranks_of_cluster(case: Case) -> Iterator[Remark]:
    """More ranks than Ray's cluster has devices, where the manifest says how many pods make it."""
    command, first = case.commands[0], case.first
    container = command.container
    if first.settings.executor != names.RAY or container is None or container.devices is None or command.pods < 2:
        return
    if command.custom or command.more or not case.laid_out or is_fragment(command) or first.layout.dp > 1:
        return
    holder = object_of(case, pod_objects(case.script))
    if holder is None or holder.templated or _has(holder.fields, _SCALES, 0):
        return
    ranks, devices = first.layout.tp * first.layout.pp, container.devices * command.pods
    if ranks <= devices:
        return
    each = f"{command.pods} pods of {container.devices}"
    message = f"{ranks} ranks, and the cluster of Ray has {devices} devices ({each}): the start waits for more"
    flag = case.engine.command_line.options["tp"]
    remedy = f"take a layout of {devices} ranks, or {-(-ranks // container.devices)} pods"
    place = case.option(flag)
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, flag, message, remedy, at=at)


def idle_devices(case: Case) -> Iterator[Remark]:
    """A container that is given more devices than its one command has ranks, by their number."""
    command, first = case.commands[0], case.first
    container = command.container
    if container is None or container.kind != "docker run" or not container.devices or case.cluster is not None:
        return
    if not case.laid_out or case.open_ended or first.takes_all_devices or command.wrappers[-1] is not container:
        return
    if command.custom or command.more or is_fragment(command) or first.settings.executor not in (None, "mp"):
        return
    apart = first.node.data_parallel_local is not None or any(case.option(flag) is not None for flag in _PARTS)
    if apart or len(case.commands) > 1 or any(name.endswith("VISIBLE_DEVICES") for name in command.env):
        return
    nodes = first.node.nodes or 1  # pods that nothing joins run the whole command each
    ranks, devices = first.layout.world_size * first.replicas, container.devices * nodes
    flag = case.engine.command_line.options.get("tp", "")
    if not flag or ranks >= devices:
        return
    message = f"the container gets {container.devices} devices, and the command starts {ranks // nodes or 1} "
    message += f"{'rank' if ranks // nodes < 2 else 'ranks'} in it: the others stay idle"
    place = case.option(flag)
    remedy = f"{'write' if place else 'add'} {flag} {devices}, or ask for {-(-ranks // nodes)}"
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, flag, message, remedy, at=at)


def _of_object(case: Case) -> Iterator[tuple[str, str, int]]:
    """Two images and the line of the second."""
    if not case.script.objects:
        return
    holder = object_of(case, pod_objects(case.script))
    if holder is None or holder.templated:
        return
    group = fields_of(inner(holder.fields, "spec", "leaderWorkerTemplate"))
    for leader, worker in _GROUPS:
        yield from _pair(group.get(leader), group.get(worker), holder)
    for spec in (inner(holder.fields, "spec"), inner(holder.fields, "spec", "rayClusterConfig")):
        head = fields_of(fields_of(spec).get("headGroupSpec")).get("template")
        for workers in items_of(fields_of(spec).get("workerGroupSpecs")):
            yield from _pair(head, fields_of(workers).get("template"), holder)


def _pair(leader: Node | None, worker: Node | None, holder: PodObject) -> Iterator[tuple[str, str, int]]:
    one, two = _image(leader), _image(worker)
    if one is not None and two is not None:
        yield text_of(one), text_of(two), holder.offset + two.start_mark.line


def _image(template: Node | None) -> Node | None:
    containers = items_of(inner(fields_of(template), "spec", "containers"))
    return fields_of(containers[0]).get("image") if containers else None


def _of_commands(case: Case) -> Iterator[tuple[str, str, int]]:
    """Of the commands that are nodes of one engine."""
    given = [
        (container.image.text, container.image.line or command.line)
        for command in case.commands
        if (container := command.container) is not None and container.image is not None
    ]
    for image, line in given[1:]:
        yield given[0][0], image, line


def _has(fields: Fields, keys: tuple[str, ...], depth: int) -> bool:
    if any(key in fields for key in keys):
        return True
    return depth < _DEEPEST and any(_has(fields_of(value), keys, depth + 1) for value in fields.values())
