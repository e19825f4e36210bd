"""How many devices a command line uses, on how many machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moonpad.engines.base import Reading
from moonpad.engines.foreign_names import PREFILL_PARALLEL
from moonpad.explain.commands import Command, whole_number
from moonpad.explain.documents.device_mentions import cluster_named
from moonpad.explain.left_devices import number_left
from moonpad.values.cluster import Cluster

_WHOLE: Final = 8
"""Devices of a usual machine."""


def ranks_of(reading: Reading) -> int:
    """The devices of all copies."""
    return reading.layout.world_size * reading.replicas * prefill_ways(reading)


def prefill_ways(reading: Reading) -> int:
    """Prefill context parallelism has devices of its own, unlike that of the decode."""
    place = reading.parsed.occurrence(PREFILL_PARALLEL)
    ways = whole_number(place.value) if place is not None and isinstance(place.value, str) else None
    return max(1, ways or 1)


def ranks_of_mpi(commands: Sequence[Command]) -> int:
    """How many `mpirun -n 16` starts, 0 where none does."""
    wrappers = [wrapper for command in commands for wrapper in command.wrappers if wrapper.kind == "mpirun"]
    given = (wrapper.value(name) for wrapper in wrappers for name in ("-n", "-np", "--np"))
    return max((whole_number(value) or 0 for value in given if value), default=0)


def used_by(reading: Reading, command: Command) -> tuple[int, int | None]:
    """How many devices a command line uses, and how many of them on each node, as far as it says."""
    layout, node, container, pods = reading.layout, reading.node, command.container, command.pods
    if reading.takes_all_devices and container is not None and container.devices and pods == 1:
        return container.devices, None
    if reading.takes_all_devices and container is None and (left := number_left(command)):
        return left, None
    devices = layout.world_size * reading.replicas
    local = node.data_parallel_local * layout.tp * layout.pp if node.data_parallel_local else None
    if container is not None and local is None and node.nodes is None:
        own = container.devices or 0
        local = own if pods > 1 or own >= _WHOLE else None  # fewer are a part of a machine, and of one alone
    if local is not None and 0 < local <= devices and devices % local == 0:
        return devices, local
    if node.nodes is not None and 0 < node.nodes <= devices and devices % node.nodes == 0:
        return devices, devices // node.nodes
    if pods > 1 and devices % pods == 0:
        return devices, devices // pods
    return devices, None


def on_all_nodes(cluster: Cluster, because: str, reading: Reading, granted: int | None) -> tuple[Cluster, str]:
    """As many machines as the command counts, where its container is given all the devices of one, or its ranks fill
    them all: the whole layout, which would say how many it uses, is not known."""
    nodes, each = reading.node.nodes, cluster.devices
    if nodes is None or nodes < 2 or cluster.nodes > 1:
        return cluster, because
    if granted != each and reading.layout.world_size < nodes * each:
        return cluster, because
    whole = cluster_named(f"{nodes}x{each}x{cluster.name.rpartition('x')[2]}")
    return (whole, f"{because} for each of its {nodes} nodes") if whole is not None else (cluster, because)


def on_counted_machines(
    cluster: Cluster, because: str, reading: Reading, counted: Sequence[str]
) -> tuple[Cluster, str]:
    """A stage on each of the machines that the text counts (`counted`, `2x8xH200`), where Ray starts the ranks: `tp 4,
    pp 2` on two nodes of eight uses four of each."""
    stages, each = reading.layout.pp, reading.layout.tp
    by_ray = reading.settings.executor == "ray" and reading.replicas == 1 == reading.layout.dp
    if cluster.nodes > 1 or stages < 2 or not by_ray or cluster.devices != stages * each:
        return cluster, because
    kind = cluster.name.rpartition("x")[2]
    machines = [named for written in counted if written.endswith(f"x{kind}") and (named := cluster_named(written))]
    if not machines or any(named.nodes != stages or named.per_node < each for named in machines):
        return cluster, because
    spread = cluster_named(f"{stages}x{each}x{kind}")
    return (spread, f"{because}, a stage on each of {stages} machines") if spread is not None else (cluster, because)


def on_one_machine(cluster: Cluster, because: str, reading: Reading) -> tuple[Cluster, str]:
    """One of the machines, for a process that takes the devices that it finds: it finds none of another machine."""
    if not reading.takes_all_devices:
        return cluster, because
    one = cluster_named(f"{cluster.per_node}x{cluster.name.rpartition('x')[2]}") or cluster
    return one, f"{because}, and one process has the devices of one machine"
