"""Files that a container reads out of a ConfigMap of the same text, which does not have them, and ConfigMaps that the
text makes under a name that is nearly the one that is mounted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct
from yaml import MappingNode, Node, ScalarNode

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import Fields, PodObject, fields_of, items_of, pod_objects, text_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_MAP: Final = "ConfigMap"
_ALIKE: Final = 0.85
_FILE: Final = r"/([\w.-]+\.(?:ya?ml|json|toml|jinja|sh|py|conf|cfg))(?![\w./-])"
_DEEPEST: Final = 30
_MOST: Final = 2000
_LONGEST: Final = 20_000


class _Pod(Struct, frozen=True):
    volumes: Fields
    """The description of the pod."""
    containers: tuple[Fields, ...]


def files_of_maps(case: Case) -> Iterator[Remark]:
    """Told once for the text, with its first server."""
    if not is_first_server(case.commands, case.script):
        return
    objects = pod_objects(case.script)
    maps = {_name(each): each for each in objects if each.kind == _MAP and not each.templated}
    if not maps:
        return
    used: set[str] = set()
    pods = [(each, pod) for each in objects if each.kind != _MAP and not each.templated for pod in _pods(case, each)]
    for _, pod in pods:
        used |= {name for name, _ in _mounted(pod).values()}
    for each, pod in pods:
        for volume, (name, node) in _mounted(pod).items():
            if name in maps:
                yield from _missing_file(case, pod, volume, maps[name])
            elif (near := _near(name, maps, used)) is not None:
                line = case.script.where(each.offset + node.start_mark.line)
                message = f"{line}: the pod mounts the ConfigMap {shortened(name, 60)}, and the text makes "
                message += (
                    f"{shortened(near, 60)}, which nothing mounts: the pod waits for a ConfigMap that does not exist"
                )
                remark = make_remark(Severity.WARNING, Code.CONFLICT, "configMap", message, f"write name: {near}")
                yield Remark(remark.finding, command=None)
                return


def _near(name: str, maps: Mapping[str, PodObject], used: set[str]) -> str | None:
    if not name or unresolved(name):
        return None
    free = [other for other in maps if other not in used and SequenceMatcher(None, name, other).ratio() >= _ALIKE]
    return free[0] if len(free) == 1 else None


def _missing_file(case: Case, pod: _Pod, volume: str, holder: PodObject) -> Iterator[Remark]:
    keys = {*fields_of(holder.fields.get("data")), *fields_of(holder.fields.get("binaryData"))}
    if not keys or "<<" in keys:
        return
    for container in pod.containers:
        mounts = [fields_of(each) for each in items_of(container.get("volumeMounts"))]
        places = [text_of(each.get("mountPath")).rstrip("/") for each in mounts]
        for mount, place in zip(mounts, places, strict=True):
            if text_of(mount.get("name")) != volume or "subPath" in mount or "subPathExpr" in mount:
                continue
            if not place.startswith("/") or unresolved(place):
                continue
            if (own := place.rpartition("/")[2]) in keys and any(place in node.value for node in _texts(container)):
                message = (
                    f"{shortened(place, 80)} is mounted without subPath: it is a folder with {shortened(own, 40)} in "
                )
                message += "it, and what is started reads it as a file"
                remedy = f"add subPath: {own}, or mount the folder above"
                remark = make_remark(Severity.WARNING, Code.CONFLICT, "mountPath", message, remedy)
                yield Remark(remark.finding, command=None)
                return
            pattern = re.compile(re.escape(place) + _FILE)
            for node in _texts(container):
                for match in pattern.finditer(node.value[:_LONGEST]):
                    if match[1] in keys or match[0] in places:
                        continue
                    line = case.script.where(holder.offset + _first_line(holder))
                    message = f"{shortened(match[0], 80)}: the ConfigMap that is mounted there ({line}) has "
                    message += f"{', '.join(shortened(key, 40) for key in sorted(keys)[:4])}: there is no such file"
                    remedy = (
                        f"write {place}/{min(keys)}" if len(keys) == 1 else f"add the key {match[1]}, or name another"
                    )
                    remark = make_remark(Severity.WARNING, Code.CONFLICT, shortened(match[1], 60), message, remedy)
                    yield Remark(remark.finding, command=None)
                    return


def _first_line(holder: PodObject) -> int:
    return min((node.start_mark.line for node in holder.fields.values()), default=0)


def _texts(container: Fields) -> Iterator[ScalarNode]:
    """What the container is started with, and what its variables hold."""
    for name in ("command", "args"):
        yield from (node for node in items_of(container.get(name)) if isinstance(node, ScalarNode))
    for each in items_of(container.get("env")):
        node = fields_of(each).get("value")
        if isinstance(node, ScalarNode):
            yield node


def _mounted(pod: _Pod) -> dict[str, tuple[str, Node]]:
    """Volumes of whole ConfigMaps → the name of the map and where it stands."""
    found: dict[str, tuple[str, Node]] = {}
    for each in items_of(pod.volumes.get("volumes")):
        fields = fields_of(each)
        source = fields_of(fields.get("configMap"))
        name = source.get("name")
        if name is not None and "items" not in source and text_of(source.get("optional")) != "true":
            found[text_of(fields.get("name"))] = (text_of(name), name)
    return found


def _name(each: PodObject) -> str:
    return text_of(fields_of(each.fields.get("metadata")).get("name"))


def _pods(case: Case, each: PodObject) -> Iterator[_Pod]:
    """Every table with volumes, and the containers in it."""
    steps, left = 0, [(each.fields, 0)]
    while left and steps < _MOST:
        fields, depth = left.pop()
        steps += 1
        if "volumes" in fields:
            inside = [fields_of(node) for node in items_of(fields.get("containers"))]
            inside += [fields_of(fields[name]) for name in ("mainContainer",) if name in fields]
            yield _Pod(fields, tuple(inside))
        if depth < _DEEPEST:
            for node in fields.values():
                inner = [node] if isinstance(node, MappingNode) else items_of(node)
                left += [(fields_of(part), depth + 1) for part in inner if isinstance(part, MappingNode)]
    case.script.budget.work(steps, "the objects of its YAML")
