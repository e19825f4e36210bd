"""Devices that a text may mean as well as those that it is judged by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from typing import Final

from moonpad.explain.commands import Script
from moonpad.explain.documents import device_patterns
from moonpad.explain.documents.device_mentions import LARGER, Mention, cluster_named, kind_of, mentions, names_in
from moonpad.values.cluster import Cluster
from moonpad.values.units import GIB

_LONGEST = 500
"""A longer line is data, not prose."""
OFFERED = "which the task may get as well"
BESIDE = "which the text names beside it"
APART = "which the text names as well"
_NEAR = 6
"""Lines between a command and what introduces it."""
_MOST = 3
"""Kinds of other lines that are looked at."""
_ALIKE = 0.08
"""Of a size, which is sold in round figures."""


def offered(cluster: Cluster, script: Script) -> tuple[str, ...]:
    """The other machines that the task of the text may get, `accelerators: {A100-80GB: 8, H100: 8}`, in an order that
    is not that of the list."""
    if len({line for _, line in script.asked}) != 1:
        return ()
    names = sorted(name for name, _ in script.asked)
    return tuple(name for name in names if name != cluster.name) if cluster.name in names else ()


def first_offered(script: Script) -> Cluster | None:
    """The first machine of such a list, in the order of the text."""
    name = next((name for name, line in script.placed_hints if (name, line) in script.asked), "")
    return cluster_named(name) if name else None


def also_meant(cluster: Cluster, script: Script, line: int) -> Iterator[tuple[Cluster, str]]:
    """As many devices of another kind, and why they may be meant: those with more memory under the same name, those
    that a line names beside them, `8x H100/H200/B200`, those that another line names where none counts these and none
    right above the command, which is at `line`, has their name, and those that a task may get."""
    kind = cluster.name.rpartition("x")[2]
    if (
        kind in LARGER
        and not _is_stated(cluster, kind, script)
        and (larger := _as_many(cluster, LARGER[kind])) is not None
    ):
        yield larger, "which is called so too"
    script.budget.work(len(script.lines), "the devices that its lines name side by side")
    others = dict.fromkeys(other for line in script.lines for other in _beside(kind, line))
    for other in others:
        if (named := _as_many(cluster, other)) is not None:
            yield named, BESIDE
    script.budget.work(script.steps_to_scan, "the devices that its lines name")
    all_named = mentions(script.lines, script.placed_hints)
    if not any(each.kind == kind and (each.machine or 0 <= line - each.line <= _NEAR) for each in all_named):
        apart = dict.fromkeys(each.kind for each in all_named if each.known and each.kind not in (kind, *others))
        machines = (_as_many(cluster, other) for other in [*apart][:_MOST])
        yield from ((machine, APART) for machine in machines if machine is not None and _is_like(machine, cluster))
    for name in offered(cluster, script):
        if (other_machine := cluster_named(name)) is not None and other_machine.devices == cluster.devices:
            yield other_machine, OFFERED


def least_beside(cluster: Cluster, line: str, meant: Set[str]) -> tuple[Cluster, tuple[str, ...], str]:
    """Of devices of one maker of which a line says that any will do, `8x H200 or 8x B200`, those with the least memory,
    the others, and what is said of the choice; the cluster itself where the line names none beside it, or another
    number of them. `meant`: the kinds that may be, by the weights too. A kind that comes in two sizes under one name is
    not taken for the smaller one: beside H200 H20 may have as much."""
    kinds = (kind for kind in _beside(cluster.name.rpartition("x")[2], line, alike=True) if kind in meant)
    beside = [_as_many(cluster, other) for other in kinds]
    others = [other for other in beside if other is not None and _is_like(other, cluster)]
    known = [other for other in others if other.name.rpartition("x")[2] not in LARGER]
    least = min((cluster, *known), key=lambda each: each.device.usable_bytes)
    names = tuple(dict.fromkeys(each.name for each in (cluster, *others) if each.name != least.name))
    open_size = len(known) < len(others)
    return least, names, f"judged by {least.name if open_size else 'the smallest'}" if names else ""


_MARKED_GOOD: Final = re.compile(r"[✅✓✔]")


def least_of_marked(named: Sequence[Mention], devices: int, lines: Sequence[str]) -> tuple[Cluster, str] | None:
    """Of machines of several kinds that rows of a table mark as good, each with so many devices, the one with the least
    memory, and what is said of the choice; None where one of the kinds has no such row, or comes in two sizes under one
    name."""
    counted = [(machine, lines[each.line - 1]) for each in named if (machine := cluster_named(each.machine or ""))]
    counted = [(machine, line[:_LONGEST]) for machine, line in counted if machine.devices == devices]
    rows = [machine for machine, line in counted if line.lstrip().startswith("|") and _MARKED_GOOD.search(line)]
    names = dict.fromkeys(machine.name for machine in rows)
    kinds = {name.rpartition("x")[2] for name in names}
    others = {each.kind for each in named} - kinds
    if len(kinds) < 2 or others or kinds & set(LARGER) or not all(_is_like(each, rows[0]) for each in rows):
        return None
    least = min(rows, key=lambda each: each.device.usable_bytes)
    beside = (name for name in names if name != least.name)
    return least, f"the text names {' or '.join((least.name, *beside))}: judged by the smallest"


def _is_like(other: Cluster, cluster: Cluster) -> bool:
    return other.device.platform is cluster.device.platform and other.device.usable_bytes > 0


def _is_stated(cluster: Cluster, kind: str, script: Script) -> bool:
    """`H20 (96G)`, `24GB 4090`: whether a line says how much memory the devices have, and it is theirs."""
    name = re.sub(r"^RTX", "(?:RTX[ -]?)?", re.escape(kind))
    size = r"[0-9]{2,3})[ ]?G(?:i?B)?"
    stated = re.compile(
        rf"(?<![A-Za-z0-9]){name}\W{{0,3}}(?P<behind>{size}(?![A-Za-z0-9])"
        rf"|(?<![A-Za-z0-9.])(?P<before>{size}[ -]{{0,2}}(?:(?:NVIDIA|GeForce)[ ]){{0,2}}{name}(?![A-Za-z0-9])",
        re.IGNORECASE,
    )
    script.budget.once("memory behind a name", len(script.lines), "the devices that its lines name side by side")
    found = [match for line in script.lines for match in stated.finditer(line[:_LONGEST])]
    sizes = {int(match["behind"] or match["before"]) for match in found}
    own = cluster.device.driver_bytes
    return any(abs(size * GIB - own) < _ALIKE * own for size in sizes)


def _as_many(cluster: Cluster, kind: str) -> Cluster | None:
    own = cluster.name.rpartition("x")[2]
    return cluster_named(cluster.name.removesuffix(own) + kind)


def _beside(kind: str, line: str, *, alike: bool = False) -> Iterator[str]:
    """`alike`: only of lists with one number for all."""
    if len(line) > _LONGEST or not any(char.isdigit() for char in line):
        return
    names = names_in(line.lower())
    for match in device_patterns.listed(names).finditer(line) if len(names) > 1 else ():
        kinds = [kind_of(part) for part in device_patterns.parts_of(match.group())]
        if kind not in kinds or "" in kinds or (alike and len(_counts(line, match)) > 1):
            continue
        yield from (other for other in kinds if other != kind)


_COUNT: Final = re.compile(r"([0-9]{1,4})[ ]?[x×*]")


def _counts(line: str, match: re.Match[str]) -> set[str]:
    """The numbers within a list and right in front of it."""
    before = re.search(
        rf"{_COUNT.pattern}[ ]?(?:(?:NVIDIA|AMD)[ ])?\Z", line[max(0, match.start() - 20) : match.start()]
    )
    return {*_COUNT.findall(match.group()), *(before.groups() if before is not None else ())}
