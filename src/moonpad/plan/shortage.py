"""What is missing where a plan does not fit, and what would help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from moonpad.plan.candidate import MIN_CONTEXT, STEP, Candidate, best_of, try_all
from moonpad.plan.layouts import legal_layouts
from moonpad.plan.shortfall import needed_bytes, sentence
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


def does_not_fit(candidate: Candidate, layout: Layout, settings: Settings, memory: Memory) -> Finding:
    """The numbers, what was turned down already, and what a device would have to hold at the least."""
    sequences = candidate.sequences(layout)
    said = sentence(memory, layout, sequences)
    if not memory.host_fits:
        return _error("host memory", said)
    need = needed_bytes(memory, layout, memory.context * sequences)
    least = gib(memory.weights_bytes + memory.overhead.low + need)
    where = "weights" if memory.weights_bytes >= memory.budget_bytes else "max_model_len"
    return _error(where, f"{said}{_turned_down(settings)}; a device must hold {least} at the least")


def _turned_down(settings: Settings) -> str:
    words = []
    if settings.max_num_seqs is not None:
        words.append(f"{settings.max_num_seqs:,} sequence{'' if settings.max_num_seqs == 1 else 's'}")
    if settings.max_num_batched_tokens is not None:
        words.append(f"{settings.max_num_batched_tokens:,} batched tokens")
    if settings.enforce_eager:
        words.append("no CUDA graphs")
    return f", with {', '.join(words)}" if words else ""


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
