"""Values of Kubernetes' objects that are of another type than its API takes, and amounts that exclude each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from moonpad.engines.value_checks import unresolved
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import BYTES, Fields, PodObject, fields_of, pod_objects, text_of
from moonpad.explain.commands import Word
from moonpad.explain.programs import identify
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_KINDS: Final = frozenset(
    {"Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "Service", "LeaderWorkerSet"}
)
_NUMBERS: Final = frozenset({
    *("replicas", "containerPort", "hostPort", "nodePort", "initialDelaySeconds", "periodSeconds", "timeoutSeconds"),
    *("failureThreshold", "successThreshold", "terminationGracePeriodSeconds", "backoffLimit", "completions"),
    *("parallelism", "progressDeadlineSeconds", "revisionHistoryLimit"),
})  # fmt: skip
_SWITCHES: Final = frozenset(
    {"hostNetwork", "hostIPC", "hostPID", "privileged", "readOnly", "optional", "stdin", "tty"}
)
_OF_PEOPLE: Final = frozenset(
    {"labels", "annotations", "matchLabels", "selector", "nodeSelector", "data", "stringData"}
)
"""Tables whose keys are anyone's own."""
_QUANTITY: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[KMGT]i|[kMGT]|)", re.ASCII)
_DEVICE: Final = re.compile(r"(?:nvidia|amd)\.com/gpu|huawei\.com/Ascend\w*", re.ASCII)
_LEAST: Final = 2**30
"""Bytes below which no server that loads a model on devices runs."""
_COMMON: Final = re.compile(r"/(?:ba|z|da)?sh$|/(?:python|env|tini|bin/|nvidia_entrypoint)|entrypoint|\\$")
"""Programs that start others."""
_SHARED: Final = "/dev/shm"  # noqa: S108 - what a manifest writes
_SMALL: Final = 64 * 2**20
"""What a container has as /dev/shm where nothing is mounted there."""
_DEEPEST: Final = 30
_MOST: Final = 2000


def types_of_fields(case: Case) -> Iterator[Remark]:
    """`replicas: "1"`, `initialDelaySeconds: 60s`: the first of a text."""
    for each, holder, fields in _all_tables(case):
        for key, node in fields.items():
            text = text_of(node)
            if not isinstance(node, ScalarNode) or not text or unresolved(text) or holder in _OF_PEOPLE:
                continue
            is_text = node.style in ("'", '"')
            if key in _NUMBERS and (is_text or not re.fullmatch(r"-?\d+", text, re.ASCII)) and text[0].isalnum():
                kind = "a whole number"
            elif key in _SWITCHES and (is_text or text.casefold() not in ("true", "false", "yes", "no", "on", "off")):
                kind = "true or false"
            else:
                continue
            written = f'"{shortened(text, 30)}"' if is_text else shortened(text, 30)
            message = (
                f"{case.script.where(each.offset + node.start_mark.line)}: {key} takes {kind}, and {written} is a "
            )
            message += "text: Kubernetes refuses the object"
            number = re.match(r"\d+", text)
            remedy = f"write {key}: {number[0]}" if number and kind == "a whole number" else f"write {kind}"
            yield _said(Code.INVALID_VALUE, key, message, remedy)
            return


def requests_and_limits(case: Case) -> Iterator[Remark]:
    """Requests above their limits, devices that are not asked for as they are limited, and Mi in the place of Gi."""
    of_others: list[Node] = []
    for each, _, fields in _all_tables(case):
        if _runs_another(fields):
            of_others += [node for node in (fields.get("resources"),) if node is not None]
        limits, requests = fields_of(fields.get("limits")), fields_of(fields.get("requests"))
        has_devices = any(_DEVICE.fullmatch(key) and text_of(node) not in ("", "0") for key, node in limits.items())
        for key, node in requests.items():
            asked, limit = _bytes(node), _bytes(limits.get(key))
            if asked is None or limit is None:
                continue
            where = case.script.where(each.offset + node.start_mark.line)
            pair = f"{where}: {key} asks for {text_of(node)}, and its limit is {text_of(limits[key])}: Kubernetes "
            if _DEVICE.fullmatch(key) and asked != limit:
                message = f"{pair}wants the same of both for devices, and refuses the object"
                yield _said(Code.CONFLICT, key, message, "write the same number in both, or leave requests out")
                return
            if key in ("memory", "ephemeral-storage") and asked > limit:
                yield _said(
                    Code.CONFLICT, key, f"{pair}refuses a request above its limit", "raise the limit, or ask for less"
                )
                return
        for table, title in ((limits, "limit"), (requests, "request")):
            memory, held = table.get("memory"), _bytes(table.get("memory"))
            if memory is None or held is None or held >= _LEAST or held < 1 or not has_devices:
                continue
            if any(node.start_mark.index <= memory.start_mark.index < node.end_mark.index for node in of_others):
                continue
            text = text_of(memory)
            message = f"{case.script.where(each.offset + memory.start_mark.line)}: {text} is a {title} of "
            message += f"{held / 2**20:,.0f} MiB of host memory for a server with devices: "
            message += (
                "it is killed (OOMKilled) as it starts"
                if title == "limit"
                else "the scheduler counts on no more, and the pod is the first that goes where memory is short"
            )
            unit = {"Mi": "Gi", "M": "G", "Ki": "Gi", "k": "G"}.get(text.lstrip("0123456789."), "Gi")
            number = re.match(r"[\d.]+", text)
            yield _said(
                Code.DOES_NOT_FIT, "memory", message, f"write {number[0] if number else ''}{unit} where that was meant"
            )
            return


def _runs_another(container: Fields) -> bool:
    """Whether its command is the path of a program that is neither an engine nor a shell, as a client has it."""
    node = container.get("command")
    words = (
        [each.value for each in node.value if isinstance(each, ScalarNode)] if isinstance(node, SequenceNode) else []
    )
    path = words[0] if words else ""
    first = [Word(path), *map(Word, words[1:])]
    return path.startswith("/") and _COMMON.search(path) is None and identify(first) is None


def shared_memory_elsewhere(case: Case) -> Iterator[Remark]:
    """A volume in memory called shm that is mounted at another place than /dev/shm, or that is smaller than none."""
    for each, _, fields in _all_tables(case):
        volumes = [fields_of(node) for node in _items(fields.get("volumes"))]
        containers = [fields_of(node) for node in _items(fields.get("containers"))]
        in_memory = {
            text_of(volume.get("name")): volume
            for volume in volumes
            if text_of(fields_of(volume.get("emptyDir")).get("medium")) == "Memory"
        }
        for container in containers:
            mounts = [fields_of(node) for node in _items(container.get("volumeMounts"))]
            places = {text_of(mount.get("mountPath")).rstrip("/"): mount for mount in mounts}
            for place, mount in places.items():
                name, node = text_of(mount.get("name")), mount.get("mountPath")
                if name not in in_memory or node is None:
                    continue
                where = case.script.where(each.offset + node.start_mark.line)
                if _SHARED not in places and "shm" in name.casefold() and not unresolved(place):
                    message = f"{where}: the volume {shortened(name, 30)} is mounted at {shortened(place, 40)}, and "
                    message += "processes share memory through /dev/shm, which keeps its 64 MiB"
                    yield _said(Code.INVALID_VALUE, "mountPath", message, "write mountPath: /dev/shm")
                    return
                size = fields_of(in_memory[name].get("emptyDir")).get("sizeLimit")
                held = _bytes(size)
                if place == _SHARED and size is not None and held is not None and 0 < held <= _SMALL:
                    where = case.script.where(each.offset + size.start_mark.line)
                    message = (
                        f"{where}: /dev/shm of {text_of(size)} is not more than the 64 MiB of a container without "
                    )
                    message += "the volume: ranks that share memory end the pod (evicted, or no space left on device)"
                    yield _said(Code.DOES_NOT_FIT, "sizeLimit", message, "write some GiB, sizeLimit: 16Gi")
                    return


def _all_tables(case: Case) -> Iterator[tuple[PodObject, str, Fields]]:
    """Each table of each object with the key that it stands at, once for a text."""
    if not case.script.objects or not is_first_server(case.commands, case.script):
        return
    for each in pod_objects(case.script):
        if each.kind not in _KINDS or each.templated:
            continue
        for steps, (holder, fields) in enumerate(_tables(each.fields, "", 0)):
            case.script.budget.work(1, "the objects of its YAML")
            if steps > _MOST:
                break
            yield each, holder, fields


def _tables(fields: Fields, holder: str, depth: int) -> Iterator[tuple[str, Fields]]:
    yield holder, fields
    if depth > _DEEPEST:
        return
    for key, node in fields.items():
        for each in (node,) if isinstance(node, MappingNode) else _items(node):
            yield from _tables(fields_of(each), key, depth + 1)


def _items(node: Node | None) -> list[Node]:
    value = node.value if node is not None and not isinstance(node, ScalarNode) else ()
    return [each for each in value if isinstance(each, MappingNode)]


def _bytes(node: Node | None) -> float | None:
    match = _QUANTITY.fullmatch(text_of(node))
    return float(match["number"]) * BYTES[match["unit"]] if match is not None else None


def _said(code: Code, where: str, message: str, remedy: str) -> Remark:
    return Remark(make_remark(Severity.WARNING, code, where, message, remedy).finding, command=None)
