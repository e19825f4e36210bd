"""What is missing where a plan does not fit, and what would help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from moonpad.plan.candidate import MIN_CONTEXT, STEP, Candidate, best_of, try_all
from moonpad.plan.layouts import legal_layouts
from moonpad.plan.shortfall import needed_bytes
from moonpad.values.cluster import Cluster
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.units import gib

MOST_DEVICES: Final = 128


def missing_bytes(memory: Memory, layout: Layout) -> float:
    """By how much even the optimistic end misses; what the host lacks counts too."""
    host = memory.host
    lacking = 0 if host is None or host.available_bytes is None else host.needed_bytes - host.available_bytes
    return max(needed_bytes(memory, layout, memory.context) - memory.kv_bytes.high, float(lacking), 0.0)


def does_not_fit(candidate: Candidate, layout: Layout, settings: Settings, memory: Memory, context: int) -> Finding:
    """The numbers: what the KV cache needs, what is there for it, and where the rest of the device went."""
    if not memory.host_fits and memory.host is not None:
        has = gib(memory.host.available_bytes or 0)
        return _error("host memory", f"each machine needs {gib(memory.host.needed_bytes)} of RAM and has {has}")
    sequences = candidate.sequences(layout)
    what = f"{context:,} tokens" if sequences == 1 else f"{sequences} sequences of {context:,} tokens"
    need = needed_bytes(memory, layout, context * sequences)
    where = "on each device" if layout.world_size > 1 else "on the device"
    least = f"{gib(memory.weights_bytes + memory.overhead.low + need)} is needed at the least"
    if memory.weights_bytes >= memory.budget_bytes:
        return _error(
            "weights",
            f"the weights take {gib(memory.weights_bytes)} {where}, which may use {gib(memory.budget_bytes)}; with "
            f"{what} of KV cache ({gib(need)}) and everything else ({_span(memory)}) {least}",
        )
    return _error(
        "max_model_len",
        f"{what} of KV cache need {gib(need)} {where}, {_available(memory)}: of the {gib(memory.budget_bytes)} that it "
        f"may use, weights take {gib(memory.weights_bytes)} and everything else {_span(memory)}"
        f"{_turned_down(settings)}; {least}",
    )


def _available(memory: Memory) -> str:
    if memory.kv_bytes.high <= 0:
        return "none is available"
    if _narrow(memory.kv_bytes.low, memory.kv_bytes.high):
        return f"{gib(memory.kv_bytes.value)} is available"
    return f"at most {gib(memory.kv_bytes.high)} is available"


def _span(memory: Memory) -> str:
    low, high = memory.overhead.low, memory.overhead.high
    how = "measured" if memory.measured else "estimated"
    return f"{gib(memory.overhead.value)} ({how})" if _narrow(low, high) else f"{gib(low)} to {gib(high)} ({how})"


def _narrow(low: float, high: float) -> bool:
    """Within what two digits of GiB can tell."""
    return high - low <= 0.011 * (1 << 30)


def _turned_down(settings: Settings) -> str:
    words = []
    if settings.max_num_seqs is not None:
        words.append(f"{settings.max_num_seqs:,} sequence{'' if settings.max_num_seqs == 1 else 's'}")
    if settings.max_num_batched_tokens is not None:
        words.append(f"{settings.max_num_batched_tokens:,} batched tokens")
    if settings.enforce_eager:
        words.append("no CUDA graphs")
    return f" with {', '.join(words)}" if words else ""


def ways_out(candidate: Candidate, layout: Layout, smallest: Callable[[], Cluster | None]) -> str:
    """What would help, each way tried before it is named; `smallest` finds the cluster that would do."""
    ways = list(_ways(candidate, layout))
    if (cluster := smallest()) is not None:
        ways.append(f"--on {cluster.name}, the smallest cluster of these devices that holds it")
    return "; or ".join(ways) if ways else "take devices with more memory, or a checkpoint with smaller weights"


def _ways(candidate: Candidate, layout: Layout) -> Iterator[str]:
    best = best_of(candidate, layout, try_all(candidate, layout))
    most = candidate.reach(layout, best.memory) // STEP * STEP
    if candidate.context is not None and MIN_CONTEXT <= most < candidate.context:
        known = "measured" if best.memory.measured else "estimated"
        yield f"--context {most} ({candidate.reach(layout, best.memory):,} tokens fit, {known})"
    wanted = candidate.context or MIN_CONTEXT
    fp8 = replace(best.rung.settings, kv_cache_dtype="fp8")
    plain = best.rung.settings.kv_cache_dtype in (None, "auto")
    if plain and _holding(candidate, layout, fp8, wanted) is not None:
        yield "--set kv_cache_dtype=fp8 (half the KV cache, not measured)"
    legal = legal_layouts(candidate.checkpoint, candidate.cluster, candidate.engine.name, candidate.version)
    wider = [one for one in legal if one.dcp > layout.dcp and replace(one, dcp=layout.dcp) == layout]
    for one in sorted(wider, key=lambda one: -one.dcp):
        if (memory := _holding(candidate, one, best.rung.settings, wanted)) is not None:
            tokens = candidate.reach(one, memory)
            yield f"--set dcp={one.dcp} (each rank holds 1/{one.dcp} of the KV cache: {tokens:,} tokens, not measured)"
            return


def _holding(candidate: Candidate, layout: Layout, settings: Settings, context: int) -> Memory | None:
    """The memory with these settings, None where a rule objects or it does not hold the context."""
    if errors_of(candidate.rules(layout, settings)):
        return None
    memory = candidate.memory(layout, replace(settings, max_model_len=context), context)
    return memory if candidate.holds(layout, memory, context) else None


def larger_clusters(cluster: Cluster) -> Iterator[Cluster]:
    """The same devices, more of them: first in the machine, then machines, doubling."""
    device = cluster.device
    per_node, nodes = cluster.per_node, cluster.nodes
    while nodes == 1 and per_node * 2 <= device.per_node:
        per_node *= 2
        yield _resized(cluster, nodes, per_node)
    while per_node and nodes * 2 * per_node <= MOST_DEVICES and device.driver_bytes:
        nodes *= 2
        yield _resized(cluster, nodes, per_node)


def _resized(cluster: Cluster, nodes: int, per_node: int) -> Cluster:
    kind = cluster.name.rpartition("x")[2]
    name = f"{per_node}x{kind}" if nodes == 1 else f"{nodes}x{per_node}x{kind}"
    return replace(cluster, name=name, nodes=nodes, per_node=per_node, detected=False)


def _error(where: str, message: str) -> Finding:
    return Finding(Severity.ERROR, Code.DOES_NOT_FIT, where, message)
