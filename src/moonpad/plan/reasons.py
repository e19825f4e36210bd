"""Why a plan is as it is: sentences with numbers, none of which is a guess at speed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from moonpad.engines import aiter
from moonpad.plan.candidate import Candidate
from moonpad.plan.capacity_errors import batch_words
from moonpad.plan.layout_plan import Fit
from moonpad.plan.nearest_results import dcp_pair, dcp_sentence
from moonpad.plan.ranking import island_devices, network_hops
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Platform, Settings
from moonpad.values.plan_answer import Published
from moonpad.values.records import replace
from moonpad.values.units import GIB, gib


def reasons_of(fit: Fit, published: Sequence[Published]) -> Iterator[str]:
    """`published` is what others measured."""
    candidate, memory = fit.candidate, fit.choice.memory
    layout, settings = fit.choice.plan.layout, fit.choice.plan.settings
    yield _weights(candidate, memory, layout)
    yield from _measured(candidate, layout, memory)
    yield _capacity(memory, layout)
    yield from _steps(fit)
    if layout.dcp > 1:
        yield _dcp(fit, published)
    if layout.dp > 1:
        yield _data_parallel(candidate, layout)
    elif layout.ep > 1:
        experts = candidate.checkpoint.architecture.routed_experts
        yield f"Expert parallel {layout.ep}: whole experts, {_each(experts, layout.ep)} of {experts} on each rank."
    if (settings.kv_cache_dtype or "").startswith("fp8"):
        yield (
            "An FP8 KV cache takes half the bytes of a BF16 one; no guide here says what it costs in accuracy, so "
            "compare the two: moonpad verify --numerics."
        )
    if memory.host is not None and settings.gpu_experts is not None:
        yield (
            f"{settings.gpu_experts} experts of each layer lie on the devices, the others take "
            f"{gib(memory.host.needed_bytes)} of each machine's RAM, with the engine's processes."
        )
    if memory.host is not None and settings.host_expert_layers:
        yield (
            f"The routed experts of the first {settings.host_expert_layers} layers lie in host RAM: "
            f"{gib(memory.host.needed_bytes)} of it, with the engine's process."
        )
    yield from _network(candidate, layout)
    kernels = aiter.env_of(fit.choice.plan)
    yield from (f"{name}={value}: {aiter.WHY[name]}." for name, value in kernels.items())


def _weights(candidate: Candidate, memory: Memory, layout: Layout) -> str:
    each = "each device" if layout.world_size > 1 else "the device"
    if candidate.cluster.device.platform is Platform.CPU:
        each = "each rank" if layout.world_size > 1 else "the processor"
    sentence = f"The weights take {memory.weights_bytes / GIB:.2f} of {memory.budget_bytes / GIB:.2f} GiB on {each}"
    if memory.overhead.value > 0:
        low, high = f"{memory.overhead.low / GIB:.2f}", f"{memory.overhead.high / GIB:.2f}"
        range_ = "" if low == high else f" ({low} to {high})"
        sentence += f", everything else {memory.overhead.value / GIB:.2f}{range_} GiB"
    return f"{sentence}; {memory.kv_bytes.value / GIB:.2f} GiB are left for the KV cache."


def _measured(candidate: Candidate, layout: Layout, memory: Memory) -> Iterator[str]:
    """What a start that was measured had left, where it was not this one."""
    if memory.near_measured:
        yield f"{memory.overhead.because[0].upper()}{memory.overhead.because[1:]}."
        return
    if candidate.kind == "told":
        return  # nothing is estimated: the engine is told the size of its KV cache
    for start in candidate.calibrations:
        if (
            start.engine == candidate.engine.name
            and start.device == candidate.cluster.device.id
            and start.scheme == candidate.checkpoint.quantization.scheme
            and replace(start.layout, dcp=1) == replace(layout, dcp=1)
        ):
            left = f"{start.kv_bytes / GIB:.2f} GiB left{_with(start.settings)} ({start.source})"
            nearest = f"The nearest measured start: {start.engine} {start.engine_version} had {left}."
            yield f"This is a model of the memory, not a measurement. {nearest}"
            return


def _with(settings: Settings) -> str:
    """The settings that move the memory, as far as they were noted."""
    fraction, batch = settings.gpu_memory_utilization or settings.kv_free_fraction, batch_words(settings)
    at = f" at a memory fraction of {fraction:g}" if fraction else ""
    at += f" with {' and '.join(batch)}" if batch else ""
    return at + (", without CUDA graphs" if settings.enforce_eager else "")


def _capacity(memory: Memory, layout: Layout) -> str:
    tokens = memory.kv_tokens.value
    replicas = f" in each of {layout.dp} replicas" if layout.dp > 1 else ""
    together = memory.concurrency_at_context.value
    at_once = "one sequence" if together < 1.95 else f"{together:,.1f} sequences"
    state = f" and {gib(memory.state_bytes_per_sequence)} a sequence" if memory.state_bytes_per_sequence else ""
    return (
        f"At {memory.kv_bytes_per_token:,} bytes a token{state} that is {tokens:,.0f} tokens{replicas}: {at_once} of "
        f"{memory.context:,} tokens at once{' in all' if replicas else ''}."
    )


def _steps(fit: Fit) -> Iterator[str]:
    """What each rung down bought, on a device."""
    for (before, after), change in zip(pairwise(fit.steps), fit.choice.turned_down, strict=True):
        gained, more = change.kv_bytes, change.kv_tokens
        what, tokens = f"With {change.what}", f"{more:,.0f} more tokens"
        if after.settings.kv_cache_dtype != before.settings.kv_cache_dtype:
            yield f"{what}: {tokens}."
        elif round(gained / GIB, 2) > 0:
            yield f"{what}: {gained / GIB:.2f} GiB more for the KV cache{f', {tokens}' if more > 0 else ''}."
        else:
            measured = after.memory.near_measured and not before.memory.near_measured
            eager = after.settings.enforce_eager and not before.settings.enforce_eager
            surer = after.memory.kv_bytes.low > before.memory.kv_bytes.low
            why = "nearer to a measured start" if surer else "more at the optimistic end of the estimate"
            why = "less outside of what the engine counts" if eager else why
            yield f"{what}: {'as a start was measured' if measured else why}."


def _dcp(fit: Fit, published: Sequence[Published]) -> str:
    candidate, settings = fit.candidate, fit.choice.plan.settings
    layout, memory = fit.choice.plan.layout, fit.choice.memory
    without = candidate.memory(replace(layout, dcp=1), settings, memory.context)
    pair = dcp_pair(published, candidate.checkpoint.name, candidate.cluster)
    return (
        f"Decode context parallel {layout.dcp} divides the KV cache over {layout.dcp} ranks: "
        f"{memory.kv_tokens.value:,.0f} tokens instead of {without.kv_tokens.value:,.0f}"
        f"{'' if memory.measured else ', estimated, not measured'}{f'; {dcp_sentence(pair)}' if pair else ''}."
    )


def _data_parallel(candidate: Candidate, layout: Layout) -> str:
    experts = candidate.checkpoint.architecture.routed_experts
    if layout.ep == 1:
        return (
            f"{layout.dp} data-parallel replicas of attention, each with a KV cache of its own; every expert is sliced "
            f"over all {layout.tp * layout.dp} ranks."
        )
    return (
        f"Data parallel {layout.dp} with the experts over {layout.ep} ranks: {_each(experts, layout.ep)} of {experts} "
        f"experts on each, and {layout.dp} KV caches beside each other."
    )


def _each(experts: int, ranks: int) -> str:
    return f"{experts // ranks}" if experts % ranks == 0 else f"{experts // ranks} or {experts // ranks + 1}"


def _network(candidate: Candidate, layout: Layout) -> Iterator[str]:
    cluster = candidate.cluster
    if cluster.nodes == 1 or candidate.kind == "host":
        return
    layers = candidate.checkpoint.architecture.layers
    hops = network_hops(layout, cluster, candidate.checkpoint.architecture)
    times = {1: "once", 2: "twice"}.get(hops, f"{hops:,} times")
    if hops == 0:
        island = island_devices(cluster)
        yield f"No token waits for the network: all that it needs lies on the {island} devices of one machine."
    elif hops < layers:
        yield f"A token crosses the network {times}, between the stages of the pipeline."
    else:
        yield f"A token waits for the network {times}, in the collectives of its layers."
