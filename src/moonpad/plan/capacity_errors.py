"""What is missing where a plan does not fit, and what would help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from moonpad.plan.candidate import MIN_CONTEXT, STEP, Candidate, best_of, try_all
from moonpad.plan.layouts import legal_layouts
from moonpad.plan.rules import check
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.units import gib

MOST_DEVICES: Final = 128


def needed_bytes(memory: Memory, layout: Layout, tokens: int) -> float:
    """What the KV cache takes on a device for so many tokens: decode context parallelism deals them out."""
    return tokens / layout.dcp * memory.kv_bytes_per_token


def sentence(memory: Memory, layout: Layout, sequences: int = 1) -> str:
    """The numbers: what so many sequences of the context need, what is there, the longest context that fits."""
    host = memory.host
    if host is not None and host.available_bytes is not None and not memory.host_fits:
        return f"the experts need {gib(host.needed_bytes)} of host memory, {gib(host.available_bytes)} is there"
    weights, budget = gib(memory.weights_bytes), gib(memory.budget_bytes)
    # What a host has may be unknown.
    part = memory.budget_bytes / memory.device_bytes if memory.device_bytes else None
    share = budget if part in (None, 1) else f"{budget}, {part:.2g} of {gib(memory.device_bytes)}"
    if memory.weights_bytes >= memory.budget_bytes:
        return (
            f"the weights alone are {weights} on each device, and the engine may use {share}; everything else takes "
            f"{_span(memory)} more"
        )
    rest = f"{weights} of weights and {_span(memory)} for everything else"
    if memory.kv_bytes.high <= 0:
        return f"nothing is left for the KV cache on each device: {rest}, and the engine may use {share}"
    need, kv_bytes = gib(needed_bytes(memory, layout, memory.context * sequences)), memory.kv_bytes
    what = f"{memory.context:,} tokens" if sequences == 1 else f"{sequences} sequences of {memory.context:,} tokens"
    left = f"{gib(kv_bytes.value)} is left" if kv_bytes.value > 0 else f"at most {gib(kv_bytes.high)} is left"
    longest = memory.max_context
    fitting = (
        f"the longest context that fits is {longest.value:,.0f}"
        if longest.value >= 1
        else f"at best {longest.high:,.0f} tokens fit"
    )
    return f"{what} need {need} of KV cache on each device, {left} of {budget} after {rest}; {fitting}"


def _span(memory: Memory) -> str:
    """`3.29 GiB (measured run …)`, with its range where a model gave it."""
    low, high, value = gib(memory.overhead.low), gib(memory.overhead.high), gib(memory.overhead.value)
    if memory.measured or low == high:
        return f"{value} ({memory.overhead.because})"
    return f"{value} (estimated, {low} to {high})"


def missing_bytes(memory: Memory, layout: Layout) -> float:
    """By how much even the optimistic end misses; what the host lacks counts too."""
    host = memory.host
    lacking = 0 if host is None or host.available_bytes is None else host.needed_bytes - host.available_bytes
    return max(needed_bytes(memory, layout, memory.context) - memory.kv_bytes.high, float(lacking), 0.0)


def does_not_fit(configuration: Configuration, memory: Memory, sequences: int) -> Finding:
    """The numbers, what was turned down already, and what a device would have to hold at the least."""
    layout, settings = configuration.layout, configuration.settings
    shortage = sentence(memory, layout, sequences)
    if not memory.host_fits:
        return _error("host memory", shortage)
    need = needed_bytes(memory, layout, memory.context * sequences)
    least = gib(memory.weights_bytes + memory.overhead.low + need)
    by_layers = "host_expert_layers" if configuration.engine.host_experts else "model"
    where = configuration.engine.memory_fraction_name or by_layers if memory.kv_bytes.high <= 0 else "max_model_len"
    return _error(where, f"{shortage}{_turned_down(settings)}; a device must hold {least} at the least")


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
    fp8 = replace(best.fallback.settings, kv_cache_dtype="fp8")
    plain = best.fallback.settings.kv_cache_dtype in (None, "auto")
    if plain and _holding(candidate, layout, fp8, wanted) is not None:
        yield "--set kv_cache_dtype=fp8 (half the KV cache, not measured)"
    legal = legal_layouts(candidate.base)
    wider = [one for one in legal if one.dcp > layout.dcp and replace(one, dcp=layout.dcp) == layout]
    for one in sorted(wider, key=lambda one: -one.dcp):
        if (memory := _holding(candidate, one, best.fallback.settings, wanted)) is not None:
            tokens = candidate.reach(one, memory)
            yield f"--set dcp={one.dcp} (each rank holds 1/{one.dcp} of the KV cache: {tokens:,} tokens, not measured)"
            return


def _holding(candidate: Candidate, layout: Layout, settings: Settings, context: int) -> Memory | None:
    """The memory with these settings, None where a rule objects or it does not hold the context."""
    if errors_of(check(candidate.configuration(layout, settings))):
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
