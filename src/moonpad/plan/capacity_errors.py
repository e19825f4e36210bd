"""What is missing where a plan does not fit, and what would help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from moonpad.plan.candidate import MIN_CONTEXT, STEP, Candidate, best_of, try_all
from moonpad.plan.layouts import legal_layouts
from moonpad.plan.rules import check
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.finding import Code, Finding, Severity, errors_of
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from moonpad.values.units import gib

MOST_DEVICES: Final = 128


def needed_bytes(memory: Memory, layout: Layout, sequences: int = 1) -> float:
    """What so many sequences of the context take on a device: decode context parallelism deals their tokens out."""
    return sequences * (memory.context / layout.dcp * memory.kv_bytes_per_token + memory.state_bytes_per_sequence)


def sentence(memory: Memory, layout: Layout, sequences: int = 1) -> str:
    """The numbers: what so many sequences of the context need, what is there, the longest context that fits."""
    host = memory.host
    if host is not None and host.available_bytes is not None and not memory.host_fits:
        return f"{gib(host.needed_bytes)} of host memory are needed, {gib(host.available_bytes)} is there"
    if memory.outside is not None and memory.outside.lacks:
        outside = memory.outside
        needs = f"{gib(outside.needed_bytes.low)} to {gib(outside.needed_bytes.high)}"
        return (
            f"{gib(memory.weights_bytes)} of weights and a KV cache of {gib(memory.kv_bytes.value)}, as the engine is "
            f"told, leave {gib(max(0, outside.left_bytes))} of {gib(memory.device_bytes)} on each device, and "
            f"{outside.needed_bytes.because} takes {needs} (estimated)"
        )
    if memory.told:
        need = gib(needed_bytes(memory, layout, sequences))
        return (
            f"{memory.context:,} tokens need {need} of KV cache on each device, and the engine is told to give it "
            f"{gib(memory.kv_bytes.value)}; the longest context that fits is {memory.max_context.value:,.0f}"
        )
    room, weights, budget = memory.sequence_room, gib(memory.weights_bytes), gib(memory.budget_bytes)
    share = budget
    if memory.device_bytes not in (0, memory.budget_bytes):  # what a host has may be unknown
        share = f"{budget}, {memory.budget_bytes / memory.device_bytes:.2g} of {gib(memory.device_bytes)}"
    # With its range where a model gave it: `3.29 GiB (measured run …)`.
    low, high, reason = gib(memory.overhead.low), gib(memory.overhead.high), memory.overhead.because
    modelled = not memory.measured and low != high
    overhead = f"{gib(memory.overhead.value)} ({f'estimated, {low} to {high}' if modelled else reason})"
    if memory.weights_bytes >= memory.budget_bytes:
        return (
            f"the weights alone are {weights} on each device, and the engine may use {share}; everything else takes "
            f"{overhead} more"
        )
    rest = f"{weights} of weights and {overhead} for everything else"
    kv_bytes, longest = memory.kv_bytes, memory.max_context
    if kv_bytes.high <= 0:
        return f"nothing is left for the KV cache on each device: {rest}, and the engine may use {share}"
    if room is not None and room.refusal:
        return f"{room.refusal}; {gib(max(0.0, kv_bytes.value))} is left for it of {budget} after {rest}"
    need = gib(needed_bytes(memory, layout, sequences))
    tokens = f"{memory.context:,} tokens"
    wanted = tokens if sequences == 1 else f"{sequences} sequences of {tokens}"
    left = f"{gib(kv_bytes.value)} is left" if kv_bytes.value > 0 else f"at most {gib(kv_bytes.high)} is left"
    fitting = f"the longest context that fits is {longest.value:,.0f}"
    if longest.value < 1:
        fitting = f"at best {longest.high:,.0f} tokens fit"
    return f"{wanted} need {need} of KV cache on each device, {left} of {budget} after {rest}; {fitting}"


def batch_words(settings: Settings) -> list[str]:
    """How much a step holds, as far as it is set: `64 sequences`, `4,096 batched tokens`."""
    sequences, tokens = settings.max_num_seqs, settings.max_num_batched_tokens
    words = [] if sequences is None else [f"{sequences:,} sequence{'' if sequences == 1 else 's'}"]
    return words if tokens is None else [*words, f"{tokens:,} batched tokens"]


def missing_bytes(memory: Memory, layout: Layout) -> float:
    """By how much even the optimistic end misses; what the host lacks counts too."""
    host = memory.host
    lacking = 0 if host is None or host.available_bytes is None else host.needed_bytes - host.available_bytes
    return max(needed_bytes(memory, layout) - memory.kv_bytes.high, float(lacking), 0.0)


def does_not_fit(configuration: Configuration, memory: Memory, sequences: int) -> Finding:
    """The numbers, what was turned down already, and what a device would have to hold at the least."""
    layout, settings = configuration.layout, configuration.settings
    message, where = sentence(memory, layout, sequences), "host memory"
    if memory.told:
        return Finding(Severity.ERROR, Code.DOES_NOT_FIT, "kv_cache_bytes", message)
    if settings.kv_cache_tokens and memory.host_fits and _is_bounded(memory):
        message = (
            f"a sequence is to have {memory.context:,} tokens, and the KV cache is told to hold "
            f"{settings.kv_cache_tokens:,}, though the memory would hold more"
        )
        return Finding(Severity.ERROR, Code.DOES_NOT_FIT, "max_model_len", message)
    if memory.host_fits:
        by_layers = "host_expert_layers" if configuration.engine.host_experts else "model"
        where = configuration.engine.memory_fraction_name or by_layers if memory.kv_bytes.high <= 0 else "max_model_len"
        turned_down = [*batch_words(settings), *(["no CUDA graphs"] if settings.enforce_eager else [])]
        needed = needed_bytes(memory, layout, sequences)
        least = gib(memory.weights_bytes + memory.overhead.low + needed)
        message += f", with {', '.join(turned_down)}" if turned_down else ""
        if memory.sequence_room is None or not memory.sequence_room.refusal:
            message += f"; a device must hold {least} at the least"
    return Finding(Severity.ERROR, Code.DOES_NOT_FIT, where, message)


def _is_bounded(memory: Memory) -> bool:
    """Whether the size that it was told, and not the memory, is what the KV cache ends at."""
    return memory.kv_bytes.high < memory.budget_bytes - memory.weights_bytes - memory.overhead.high


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
    fp8 = replace(best.settings, kv_cache_dtype="fp8")
    plain = best.settings.kv_cache_dtype in (None, "auto")
    if plain and _holding(candidate, layout, fp8, wanted) is not None:
        yield "--set kv_cache_dtype=fp8 (half the KV cache, not measured)"
    wider = (legal for legal in legal_layouts(candidate.base) if legal.dcp > layout.dcp)
    same_but_dcp = [legal for legal in wider if replace(legal, dcp=layout.dcp) == layout]
    for legal in sorted(same_but_dcp, key=lambda legal: -legal.dcp):
        if (memory := _holding(candidate, legal, best.settings, wanted)) is not None:
            dcp, tokens = legal.dcp, candidate.reach(legal, memory)
            yield f"--set dcp={dcp} (each rank holds 1/{dcp} of the KV cache: {tokens:,} tokens, not measured)"
            return


def _holding(candidate: Candidate, layout: Layout, settings: Settings, context: int) -> Memory | None:
    """The memory with these settings, None where a rule objects or it does not hold the context."""
    if errors_of(check(candidate.configuration(layout, settings))):
        return None
    memory = candidate.memory(layout, replace(settings, max_model_len=context), context)
    return memory if candidate.holds(layout, memory, context) else None


def larger_clusters(cluster: Cluster) -> Iterator[Cluster]:
    """The same devices, more of them: first in the machine, then machines, doubling."""
    device, per_node, nodes = cluster.device, cluster.per_node, cluster.nodes
    kind = cluster.name.rpartition("x")[2]
    while nodes == 1 and per_node * 2 <= device.per_node:
        per_node *= 2
        yield replace(cluster, name=f"{per_node}x{kind}", per_node=per_node, detected=False)
    while per_node and nodes * 2 * per_node <= MOST_DEVICES and device.driver_bytes:
        nodes *= 2
        yield replace(cluster, name=f"{nodes}x{per_node}x{kind}", nodes=nodes, per_node=per_node, detected=False)
