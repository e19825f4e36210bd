"""Claims that one node alone may mount, against the nodes that their pods stand on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct
from yaml import Node

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.manifests.pod_objects import (
    Fields,
    fields_of,
    inner,
    items_of,
    number_of,
    pod_objects,
    text_of,
)
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.explain.shell.own_lines import is_first_server
from moonpad.values.finding import Code, Severity

_ONE_NODE: Final = {"ReadWriteOnce", "ReadWriteOncePod"}
_HOST: Final = "kubernetes.io/hostname"
_DEVICES: Final = ("nvidia.com/gpu", "amd.com/gpu")
_WHOLE_NODE: Final = 8
_DEEP: Final = 14
_ANY: Final = "*"
"""A claim whose name a template fills in."""
_REMEDY: Final = "ask for ReadWriteMany of a class of storage that has it, or give each node its own copy (hostPath)"


class _Pods(Struct, frozen=True):
    """Pods that mount a claim: the node that they are tied to, the devices of each, and how many there are."""

    host: str
    devices: int
    copies: int


def claim_of_one_node(case: Case) -> Iterator[Remark]:
    """Told with the first server of the text."""
    if not is_first_server(case.commands, case.script):
        return
    objects = pod_objects(case.script)
    case.script.budget.work(len(objects), "the claims of its pods")
    claims: dict[str, int] = {}
    declared: set[str] = set()
    for each in objects:
        if each.kind != "PersistentVolumeClaim":
            continue
        name, modes = text_of(inner(each.fields, "metadata", "name")), inner(each.fields, "spec", "accessModes")
        declared.add(_ANY if each.templated else name)
        names = {text_of(mode) for mode in items_of(modes)}
        if modes is not None and names and names <= _ONE_NODE and not each.templated:
            claims[name] = each.offset + modes.start_mark.line
    users: dict[str, list[_Pods]] = {}
    for each in objects:
        if each.kind not in ("PersistentVolumeClaim", "Job", "CronJob"):
            _walk(each.fields, 1, users, 0)
    for name, line in claims.items():
        why = _apart(users.get(name, []))
        if why:
            message = (
                f"{case.script.where(line)}: {shortened(name, 60)} is ReadWriteOnce, so one node at a time mounts "
            )
            message += f"it, and {why}: the pods of the second node wait for ever (Multi-Attach error)"
            remark = make_remark(Severity.WARNING, Code.INVALID_VALUE, "accessModes", message, _REMEDY)
            yield Remark(remark.finding, command=None)
    if _ANY not in declared:
        yield from _of_unknown_mode({name: pods for name, pods in users.items() if name not in declared})


def _of_unknown_mode(users: Mapping[str, list[_Pods]]) -> Iterator[Remark]:
    """Claims that another file makes: whether several nodes may mount them is not said here."""
    for name, pods in users.items():
        hosts = _hosts(pods)
        if len(hosts) > 1 and "{{" not in name:
            message = (
                f"{shortened(name, 60)} is mounted by pods that are tied to {shortened(hosts[0], 40)} and "
                f"{shortened(hosts[1], 40)}, and its access mode is not in the text: where it is ReadWriteOnce or lies "
                "on one node's disk (local-path), the pods of the other node never start"
            )
            remark = make_remark(Severity.NOTE, Code.INVALID_VALUE, "claimName", message, _REMEDY)
            yield Remark(remark.finding, command=None)


def _walk(fields: Fields, copies: int, users: dict[str, list[_Pods]], depth: int) -> None:
    """Down to each description of pods; `copies` counts the pods that it stands for."""
    if depth > _DEEP:
        return
    own = copies * max(1, number_of(fields.get("replicas")) or 1)
    own *= max(1, number_of(inner(fields, "leaderWorkerTemplate", "size")) or 1)
    for volume in items_of(fields.get("volumes")):
        name = text_of(inner(fields_of(volume), "persistentVolumeClaim", "claimName"))
        if name:
            host = text_of(inner(fields, "nodeSelector", _HOST))
            users.setdefault(name, []).append(_Pods(host, _devices(fields), own))
    for key, value in fields.items():
        if key in ("leaderTemplate", "initContainers", "volumeClaimTemplates"):
            continue
        if fields_of(value):
            _walk(fields_of(value), own, users, depth + 1)
        for item in items_of(value):
            if fields_of(item):
                _walk(fields_of(item), own, users, depth + 1)


def _devices(spec: Fields) -> int:
    containers = [*items_of(spec.get("containers")), spec.get("mainContainer")]
    return sum(_of_container(each) for each in containers if each is not None)


def _of_container(container: Node) -> int:
    limits = fields_of(inner(fields_of(container), "resources", "limits"))
    return sum(number_of(limits.get(name)) or 0 for name in _DEVICES)


def _apart(users: list[_Pods]) -> str:
    """Why its pods cannot all be on one node; "" where they may be."""
    hosts = _hosts(users)
    if len(hosts) > 1:
        return f"its pods are tied to {shortened(hosts[0], 40)} and {shortened(hosts[1], 40)}"
    if hosts:
        return ""
    whole = sum(each.copies for each in users if each.devices >= _WHOLE_NODE)
    return f"{whole} pods of {_WHOLE_NODE} devices each mount it, which one node does not hold" if whole > 1 else ""


def _hosts(users: list[_Pods]) -> list[str]:
    """The nodes that pods are tied to, as far as no template fills them in."""
    return sorted({each.host for each in users if each.host and "{{" not in each.host})
