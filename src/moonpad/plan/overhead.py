"""What a device holds besides weights and KV cache: a model with a range, for where no run was measured.

The parts: what the engine has allocated before any token; the peak of a forward pass over the batched tokens, or that
of sampling for all sequences, whichever is larger, for they do not meet; captured graphs, where the engine counts them.
The figures, their ranges and sources are rows by engine version (catalog/data/device_overhead.toml), fitted to known
starts by benchmarks/memory/fit.py. The range of the sum is to hold 90 % of the starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from moonpad.catalog.device_overhead import ZERO, Overhead, Spread, context_of, overhead_of
from moonpad.plan.activations import activations_of, dispatches
from moonpad.plan.effective_settings import Limits
from moonpad.values.configuration import Configuration
from moonpad.values.platform import Platform
from moonpad.values.records import replace

CONTEXT: Final = "engine"
FORWARD: Final = "forward pass"
SAMPLER: Final = "sampling"
GRAPHS: Final = "CUDA graphs"
VISION: Final = "images"
EXPERTS: Final = "all-to-all"
NODES: Final = "other machines"
UNUSED: Final = "left free"

MOST_CAPTURED: Final = 512
"""Sequences of the largest batch for which vLLM captures a graph (wheels of 0.11.0 to 0.32.0: config/vllm.py)."""


class Modelled(Struct, frozen=True):
    """`total` in bytes; the `parts` add up to its value."""

    total: Spread
    parts: Mapping[str, float]
    because: str


def modelled_overhead(configuration: Configuration, limits: Limits, *, samples: bool = True) -> Modelled:
    """For an engine with a device budget, or the activations of one that shares out what is left.

    `samples`: whether the device is of the last pipeline stage.
    """
    name, version = configuration.engine.name, configuration.version
    context = context_of(name, version, configuration.platform, configuration.scheme)
    parts = {CONTEXT: context.context, **_parts(configuration, limits, samples)}
    # Whether an engine expects its graphs to take nothing or much is not a matter of degrees: either end may be.
    others = [part for part_name, part in parts.items() if part_name != GRAPHS]
    total = ZERO.plus(*others).together(parts[GRAPHS])
    return Modelled(total, _positive(parts), f"model: {context.provenance.source}")


def change_of_overhead(now: Configuration, now_limits: Limits, then: Configuration, then_limits: Limits) -> Spread:
    """By how much it differs between two settings of the same engine on the same devices. What both have varies in both
    alike, so that only the difference of the two is uncertain.
    """
    new, old = _parts(now, now_limits, True), _parts(then, then_limits, True)
    alike = [Spread(*_ends(new[name], old[name])) for name in new.keys() & old.keys()]
    appeared = [new[name] for name in new.keys() - old.keys()]
    gone = [Spread(-part.value, -part.high, -part.low) for name, part in old.items() if name not in new]
    return ZERO.plus(*alike, *appeared, *gone)


def _ends(new: Spread, old: Spread) -> tuple[float, float, float]:
    low, high = sorted((new.low - old.low, new.high - old.high))
    value = new.value - old.value
    return value, min(low, value), max(high, value)


def _parts(configuration: Configuration, limits: Limits, samples: bool) -> dict[str, Spread]:
    """All but the context. Of forward pass and sampler there is the one that is expected to be larger."""
    row, layout = overhead_of(configuration.engine.name, configuration.version), configuration.layout
    forward = _forward(row, configuration, limits)
    sampler = _sampler(row, configuration, limits) if samples else ZERO
    graphs = _graphs(row, configuration, limits) if limits.graphs and limits.graphs_counted else ZERO
    return {
        FORWARD if forward.value >= sampler.value else SAMPLER: Spread(*map(max, forward, sampler)),
        VISION: row.vision
        if configuration.architecture.vision_parameters and not configuration.settings.text_only
        else ZERO,
        EXPERTS: row.expert_parallel if layout.dp > 1 and layout.ep > 1 else ZERO,
        NODES: row.nodes if configuration.spans_nodes else ZERO,
        GRAPHS: graphs,
    }


def static_overhead(configuration: Configuration, limits: Limits) -> Modelled:
    """Of SGLang: the fraction is one of what is free before loading, and all that runs lies outside of it."""
    row = overhead_of(configuration.engine.name, configuration.version)
    of = context_of(row.engine, configuration.version, configuration.platform, configuration.scheme)
    context = of.context.times(limits.memory_fraction * limits.scale)
    spread = row.default_spread_bytes if limits.chosen else 0.0
    total = context.plus(Spread(0, -spread, spread))
    total = total._replace(low=max(0.0, total.low))
    return Modelled(total, _positive({CONTEXT: context}), f"model: {of.provenance.source}")


def free_overhead(activations: Modelled, limits: Limits, device_bytes: int, weights_bytes: int) -> Modelled:
    """Of TensorRT-LLM: what it runs with, and the share that it leaves of what weights and that do not take."""
    left = 1 - limits.memory_fraction

    def unused(active: float) -> float:
        return left * max(0.0, device_bytes - weights_bytes - active)

    total = activations.total
    parts = {**activations.parts, UNUSED: unused(total.value)}
    held = {name: size for name, size in parts.items() if size > 0}
    return Modelled(Spread(*(end + unused(end) for end in total)), held, activations.because)


def outside_demand(configuration: Configuration, limits: Limits) -> Spread:
    """What must find room beside the memory fraction: without it a start, or the first requests, run out of memory."""
    row = overhead_of(configuration.engine.name, configuration.version)
    uncounted = limits.graphs and not limits.graphs_counted and configuration.platform is Platform.CUDA
    parts = [row.outside, row.captured if uncounted else ZERO]
    if limits.budget == "static":
        parts.append(_forward(row, configuration, limits))
    elif configuration.settings.draft_tokens and configuration.layout.dcp > 1:
        parts.append(row.draft_dcp_outside)
    return ZERO.plus(*parts)


def captured_sizes(sequences: int, draft_tokens: int, batched_tokens: int) -> int:
    """For how many batch sizes vLLM captures graphs: 1, 2, 4, then every eighth to 256 and every sixteenth after it, up
    to twice the sequences, at most 512 (`max_cudagraph_capture_size`; wheels of 0.11.1 to 0.32.0).
    """
    largest = min(2 * sequences * (1 + draft_tokens), MOST_CAPTURED, batched_tokens)
    below = sum(size <= largest for size in (1, 2, 4))
    return below + min(largest, 255) // 8 + max(0, (largest - 256) // 16 + 1)


def _forward(row: Overhead, configuration: Configuration, limits: Limits) -> Spread:
    """Where tokens are dispatched the upper end is that of all of them on one rank: those of a profile run are alike,
    and may all choose its experts. No such start was measured."""
    balanced = row.forward.times(activations_of(configuration, limits).peak)
    if not dispatches(configuration):
        return balanced
    gathered = replace(configuration, settings=replace(configuration.settings, all2all_backend=None))
    return balanced._replace(high=row.forward.times(activations_of(gathered, limits).peak).high)


def _sampler(row: Overhead, configuration: Configuration, limits: Limits) -> Spread:
    return row.sampler.times((limits.max_num_seqs or 0) * configuration.architecture.vocabulary)


def _graphs(row: Overhead, configuration: Configuration, limits: Limits) -> Spread:
    """What an engine expects them to take: since it measures two of them and multiplies, that may be far off."""
    if configuration.platform is Platform.ROCM:
        return row.rocm_graphs
    draft_tokens, layout = configuration.settings.draft_tokens, configuration.layout
    sizes = captured_sizes(limits.max_num_seqs or 0, draft_tokens, limits.max_num_batched_tokens)
    slow = configuration.device.scaleup_domain == 1 and layout.world_size > 1
    more = {
        row.blackwell_graphs: 100 <= (configuration.device.sm or 0) < 120,
        row.slow_link_graphs: slow,
        row.slow_link_draft_graphs: slow and draft_tokens > 0,
        row.draft_dcp_graphs: draft_tokens > 0 and layout.dcp > 1,
    }
    return row.graphs.together(row.graph.times(sizes), *(spread for spread, applies in more.items() if applies))


def _positive(parts: Mapping[str, Spread]) -> dict[str, float]:
    return {name: part.value for name, part in parts.items() if part.value > 0}
