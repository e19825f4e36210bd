"""The kinds of devices of mentions in their order, and machines of which only a part is used."""

from __future__ import annotations

from collections.abc import Sequence

from moonpad.explain.documents.device_generations import alike
from moonpad.explain.documents.device_mentions import Mention, cluster_named
from moonpad.values.cluster import Cluster


def part_of(machines: Sequence[Cluster], devices: int, kind: str) -> Cluster | None:
    """So many devices spread evenly over as few as may be of the nodes that are counted: 12 of `2x7xA40`."""
    for machine in machines:
        for nodes in range(2, machine.nodes + 1):
            if devices % nodes == 0 and devices // nodes <= machine.per_node:
                return cluster_named(f"{nodes}x{devices // nodes}x{kind}")
    return None


def counted_apart(near: Sequence[Mention]) -> list[str]:
    """Kinds of one line that each have a number of their own: `11x H100 or 7x H200`."""
    counted = [(each, each.machine.removesuffix(each.kind)) for each in near if each.machine and each.known]
    numbers = {number: each.kind for each, number in counted if each.line == counted[0][0].line}
    return list(dict.fromkeys(numbers.values())) if len(numbers) > 1 else []


def kinds_named(near: Sequence[Mention]) -> list[str]:
    """Each kind once; of several on one line the first, for `8x H200/H20` are two that will both do."""
    firsts: dict[int, str] = {}
    for each in near:
        firsts.setdefault(each.line, each.kind)
    kinds = list(dict.fromkeys(firsts.values()))
    return kinds[:1] if alike(kinds) else kinds
