"""How many bytes a device may fill, and what of them is neither weights nor KV cache, for each kind of budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.catalog.calibrations import Calibration
from moonpad.catalog.overhead import Spread
from moonpad.plan.calibrated import Match, find_match
from moonpad.plan.kv import layer_bytes_per_token
from moonpad.plan.limits import Limits, bounded, limits_of
from moonpad.plan.overhead import Modelled, free_overhead, modelled_overhead, static_overhead
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.errors import PreflightRefused
from moonpad.values.plan import Layout, Settings
from moonpad.values.units import GIB, gib

CPU_PROCESS: Final = Spread(1.0 * GIB, 0.5 * GIB, 2.0 * GIB)
"""Of a worker of vLLM on a CPU, which subtracts it from its share of the RAM: assumed."""


@dataclass(frozen=True, slots=True)
class Sought:
    """One thing whose memory is sought. `weights` are bytes a device of each pipeline stage."""

    checkpoint: Checkpoint
    cluster: Cluster
    engine: str
    version: str
    layout: Layout
    settings: Settings
    limits: Limits
    weights: tuple[int, ...]

    @property
    def ranks_per_node(self) -> int:
        return -(-self.layout.world_size // max(1, self.cluster.nodes))


@dataclass(frozen=True, slots=True)
class Room:
    """Of one stage: `overhead` and weights come out of `budget_bytes`, the KV cache gets the rest."""

    budget_bytes: int
    overhead: Modelled


Rooms = Callable[[int], Room]
"""By the number of the stage."""


def rooms_of(sought: Sought, calibrations: Sequence[Calibration]) -> Rooms:
    """A measured start where one fits, else the model of the engine.

    Raises:
        PreflightRefused: a CPU whose memory is unknown, and no `kv_cache_gib`.
    """
    if sought.limits.budget == "told":
        return _told(sought)
    match = find_match(
        calibrations,
        sought.checkpoint,
        sought.cluster.device,
        sought.engine,
        sought.version,
        sought.layout,
        sought.settings,
        sought.limits,
    )
    return _modelled(sought) if match is None else _measured(sought, match)


def _budget(cluster: Cluster, limits: Limits) -> int:
    usable = cluster.device.usable_bytes
    return usable if limits.budget == "free" else int(usable * limits.memory_fraction)


def _told(sought: Sought) -> Rooms:
    """A CPU engine is told the size of its KV cache on every rank; where it is not, it takes a fraction of the RAM."""
    memory_bytes = sought.cluster.host.memory_bytes
    if sought.settings.kv_cache_gib is not None:
        told = bounded(sought.settings.kv_cache_gib) * GIB
        nothing = Modelled(Spread(0, 0, 0), {}, "the engine is told the size of its KV cache, beside all else")
        return lambda stage: Room(told + sought.weights[stage], nothing)
    if memory_bytes is None:
        raise PreflightRefused(
            "how large the KV cache is cannot be said: neither kv_cache_gib nor this host's memory is known",
            remedy="set kv_cache_gib, 4 for instance",
        )
    process = Modelled(CPU_PROCESS, {}, "model: what a worker takes beside the weights, by a guess")
    budget = int(memory_bytes * sought.limits.memory_fraction / sought.ranks_per_node)
    return lambda stage: Room(budget, process)


def _modelled(sought: Sought) -> Rooms:
    limits, layout, last = sought.limits, sought.layout, len(sought.weights) - 1
    budget = _budget(sought.cluster, limits)
    if limits.budget == "static":
        static = Room(budget, static_overhead(sought.engine, sought.version, limits))
        return lambda stage: static
    nodes = -(-layout.world_size // max(1, sought.cluster.per_node))

    def modelled(samples: bool) -> Modelled:
        return modelled_overhead(
            sought.engine,
            sought.version,
            limits,
            sought.checkpoint.architecture,
            layout,
            nodes=nodes,
            samples=samples,
        )

    ends = modelled(True)
    inner = modelled(False) if last else ends

    def room(stage: int) -> Room:
        overhead = ends if stage == last else inner
        if limits.budget == "free":
            overhead = free_overhead(overhead, limits, budget, sought.weights[stage])
        return Room(budget, overhead)

    return room


def _measured(sought: Sought, match: Match) -> Rooms:
    """What the measured start had left over: its own budget − weights − KV cache, within the digits of its log.

    Of several pipeline stages the log was that of the one with the most weights: an assumption.
    """
    one = match.calibration
    then = limits_of(
        sought.checkpoint, sought.cluster.device, sought.engine, sought.version, sought.layout, one.settings
    )
    rest, margin = _budget(sought.cluster, then) - max(sought.weights), match.margin_bytes
    kv = _kv_of_log(sought, one) if match.exact else Spread(one.kv_bytes, one.kv_bytes_low, one.kv_bytes_high)
    total = Spread(rest - kv.value, rest - kv.high - margin, rest - kv.low + margin)
    what = f"{gib(one.kv_bytes)} were left for the KV cache ({one.source})"
    if match.exact:
        because = f"measured run {one.id}: {what}"
    else:
        because = f"estimated from the measured run {one.id}, which had {' and '.join(match.differs)}: {what}"
    room = Room(_budget(sought.cluster, sought.limits), Modelled(total, {}, because))
    return lambda stage: room


def _kv_of_log(sought: Sought, one: Calibration) -> Spread:
    """The KV cache of a measured start, narrowed by the whole blocks that its log counted, where it did."""
    block, dcp = sought.limits.block_size, sought.layout.dcp
    printed = Spread(one.kv_bytes, one.kv_bytes_low, one.kv_bytes_high)
    if one.kv_tokens is None or one.kv_tokens % (block * dcp) or sought.layout.pp > 1:
        return printed
    architecture = sought.checkpoint.architecture
    per_token = architecture.layers * layer_bytes_per_token(architecture, fp8=sought.limits.kv_fp8)
    low = max(printed.low, one.kv_tokens // dcp * per_token)
    high = min(printed.high, (one.kv_tokens // dcp + block) * per_token - 1)
    return Spread(min(max(printed.value, low), high), low, high) if low <= high else printed
