"""How many bytes a device may fill, and what of them is neither weights nor KV cache, for each kind of budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.device_overhead import Spread
from moonpad.plan.effective_settings import Limits, bounded, limits_of
from moonpad.plan.kv_cache import layer_bytes_per_token
from moonpad.plan.measured_starts import Match, find_match
from moonpad.plan.overhead import (
    Modelled,
    change_of_overhead,
    free_overhead,
    modelled_overhead,
    static_overhead,
)
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.errors import PreflightRefused
from moonpad.values.records import replace
from moonpad.values.units import GIB, gib

CPU_PROCESS: Final = Spread(1.0 * GIB, 0.5 * GIB, 2.0 * GIB)
"""Of a worker of vLLM on a CPU, which subtracts it from its share of the RAM: assumed."""


class Demand(Struct, frozen=True):
    """A configuration with the limits in force, and the bytes of weights on a device of each pipeline stage.

    `moved_bytes`: of the weights of a device, what it was told to keep in host RAM instead.
    """

    configuration: Configuration
    limits: Limits
    weights: tuple[int, ...]
    moved_bytes: int = 0


class Room(Struct, frozen=True):
    """Of one stage: `overhead` and weights come out of `budget_bytes`, the KV cache gets the rest."""

    budget_bytes: int
    overhead: Modelled


Rooms = Callable[[int], Room]
"""By the number of the stage."""


def rooms_of(demand: Demand, calibrations: Sequence[Calibration]) -> Rooms:
    """A measured start where one fits, else the model of the engine.

    Raises:
        PreflightRefused: a CPU whose memory is unknown, and no `kv_cache_gib`.
    """
    if demand.limits.budget == "told":
        return _told(demand)
    if not _usable_bytes(demand.configuration.cluster):
        raise PreflightRefused(
            "what fits is unknown, because the machine's memory is",
            remedy="leave [hardware] cluster out, so that this machine is asked",
        )
    modelled = _modelled(demand)
    match = find_match(calibrations, demand.configuration, demand.limits)
    if match is None:
        return modelled
    measured = _measured(demand, match)
    stages = range(len(demand.weights))
    # A start with another batch may say less than the model, where it is not known how much the batch takes.
    better = not match.other_batch or max(map(_width(measured), stages)) < max(map(_width(modelled), stages))
    return measured if better else modelled


def _width(rooms: Rooms) -> Callable[[int], float]:
    return lambda stage: (total := rooms(stage).overhead.total).high - total.low


def _usable_bytes(cluster: Cluster) -> int:
    """Of a device; where the processors compute, the machine's RAM."""
    return cluster.device.usable_bytes or cluster.host.memory_bytes or 0


def _budget(cluster: Cluster, limits: Limits) -> int:
    usable = _usable_bytes(cluster)
    return usable if limits.budget == "free" else int(usable * limits.memory_fraction * limits.scale)


def _told(demand: Demand) -> Rooms:
    """A CPU engine is told the size of its KV cache on every rank; where it is not, it takes a fraction of the RAM."""
    configuration = demand.configuration
    memory_bytes, kv_cache_gib = configuration.cluster.host.memory_bytes, configuration.settings.kv_cache_gib
    if kv_cache_gib is not None:
        kv_cache_bytes = bounded(kv_cache_gib) * GIB
        nothing = Modelled(Spread(0, 0, 0), {}, "the engine is told the size of its KV cache, beside all else")
        return lambda stage: Room(kv_cache_bytes + demand.weights[stage], nothing)
    if memory_bytes is None:
        raise PreflightRefused(
            "the size of the KV cache is unknown: neither kv_cache_gib nor this host's memory is known",
            remedy="set kv_cache_gib, 4 for instance",
        )
    process = Modelled(CPU_PROCESS, {}, "model: what a worker takes beside the weights, by a guess")
    budget = int(memory_bytes * demand.limits.memory_fraction / configuration.ranks_per_node)
    return lambda stage: Room(budget, process)


def _modelled(demand: Demand) -> Rooms:
    configuration, limits, last = demand.configuration, demand.limits, len(demand.weights) - 1
    budget = _budget(configuration.cluster, limits)
    if limits.budget == "static":
        static = Room(budget, static_overhead(configuration, limits))
        return lambda stage: static
    ends = modelled_overhead(configuration, limits)
    inner = modelled_overhead(configuration, limits, samples=False) if last else ends

    def room(stage: int) -> Room:
        overhead = ends if stage == last else inner
        if limits.budget == "free":
            overhead = free_overhead(overhead, limits, budget, demand.weights[stage])
        return Room(budget, overhead)

    return room


def _measured(demand: Demand, match: Match) -> Rooms:
    """What the measured start had left over: its own budget − weights − KV cache, within the digits of its log.

    Of several pipeline stages the log was that of the one with the most weights: an assumption.
    """
    start, configuration = match.calibration, demand.configuration
    then = limits_of(replace(configuration, settings=start.settings))
    rest, margin = _budget(configuration.cluster, then) - max(demand.weights), match.margin_bytes
    kv = _kv_of_log(demand, start) if match.exact else Spread(start.kv_bytes, start.kv_bytes_low, start.kv_bytes_high)
    total = Spread(rest - kv.value, rest - kv.high - margin, rest - kv.low + margin)
    if match.other_batch:
        was = replace(configuration, settings=start.settings)
        total = total.plus(change_of_overhead(configuration, demand.limits, was, then))
    left = f"{gib(start.kv_bytes)} were left for the KV cache ({start.source})"
    if match.exact:
        because = f"measured run {start.id}: {left}"
    else:
        because = f"estimated from the measured run {start.id}, which had {' and '.join(match.differs)}: {left}"
    room = Room(_budget(configuration.cluster, demand.limits), Modelled(total, {}, because))
    return lambda stage: room


def _kv_of_log(demand: Demand, start: Calibration) -> Spread:
    """The KV cache of a measured start, narrowed by the whole blocks that its log counted, where it did."""
    configuration = demand.configuration
    block, dcp = demand.limits.block_size, configuration.layout.dcp
    printed = Spread(start.kv_bytes, start.kv_bytes_low, start.kv_bytes_high)
    uneven = start.kv_tokens is None or start.kv_tokens % (block * dcp) or configuration.layout.pp > 1
    if start.kv_tokens is None or uneven or configuration.architecture.linear is not None:
        return printed
    architecture = configuration.architecture
    per_token = architecture.layers * layer_bytes_per_token(architecture, bits=demand.limits.kv_bits)
    low = max(printed.low, start.kv_tokens // dcp * per_token)
    high = min(printed.high, (start.kv_tokens // dcp + block) * per_token - 1)
    return Spread(min(max(printed.value, low), high), low, high) if low <= high else printed
