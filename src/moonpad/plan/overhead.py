"""What a device holds besides weights and KV cache: a model with a range, for where no run was measured.

The parts: the runtime's context with the buffers of collectives; the peak of a forward pass over the batched tokens, or
that of sampling for all sequences, whichever is larger, for they do not meet; captured graphs, where the engine counts
them. The figures, their ranges and sources are rows by engine version (catalog/data/overhead.toml).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from moonpad.catalog.overhead import Spread, overhead_of
from moonpad.plan.effective_settings import Limits
from moonpad.values.checkpoint import Architecture
from moonpad.values.plan import Layout

CONTEXT: Final = "context and collectives"
FORWARD: Final = "forward pass"
SAMPLER: Final = "sampling"
GATHERED: Final = "gathered tokens"
GRAPHS: Final = "CUDA graphs"
UNUSED: Final = "left free"

KNOWN_WIDTH: Final = 8 * 7168
"""Experts a token × hidden size, for which the forward peak of a token is known; it is taken to grow with both."""
ZERO: Final = Spread(0, 0, 0)
_BF16_BYTES: Final = 2


@dataclass(frozen=True, slots=True)
class Modelled:
    """`total` in bytes; the `parts` add up to its value."""

    total: Spread
    parts: Mapping[str, float]
    because: str


def modelled_overhead(
    engine: str,
    version: str,
    limits: Limits,
    architecture: Architecture,
    layout: Layout,
    *,
    nodes: int = 1,
    samples: bool = True,
) -> Modelled:
    """For an engine with a device budget, or the activations of one that shares out what is left.

    `samples`: whether the device is of the last pipeline stage. `nodes`: how many machines the layout spans.
    """
    row = overhead_of(engine, version)
    more = (row.experts_high_bytes if layout.ep > 1 else 0.0) + (row.nodes_high_bytes if nodes > 1 else 0.0)
    context = row.context._replace(high=row.context.high + more)
    width = max(1, architecture.experts_per_token) * architecture.hidden
    forward = row.forward.times(limits.max_num_batched_tokens * width / KNOWN_WIDTH)
    sampler = row.sampler.times((limits.max_num_seqs or 0) * architecture.vocabulary) if samples else ZERO
    graphs = row.graphs if limits.graphs and limits.graphs_counted else ZERO
    gathered = _gathered(limits, architecture, layout)
    computing = _sum(forward, gathered)
    peak = Spread(*map(max, computing, sampler))
    parts = {CONTEXT: context.value}
    if peak.value > sampler.value:
        parts |= {FORWARD: forward.value, GATHERED: gathered.value}
    else:
        parts[SAMPLER] = sampler.value
    parts[GRAPHS] = graphs.value
    return Modelled(_sum(context, peak, graphs), _positive(parts), f"model: {row.provenance.source}")


def static_overhead(engine: str, version: str, limits: Limits) -> Modelled:
    """Of SGLang: the fraction is one of what is free before loading, and all that runs lies outside of it."""
    row = overhead_of(engine, version)
    context = row.context.times(limits.memory_fraction)
    spread = row.default_spread_bytes if limits.chosen else 0.0
    total = Spread(context.value, max(0.0, context.low - spread), context.high + spread)
    return Modelled(total, _positive({CONTEXT: context.value}), f"model: {row.provenance.source}")


def free_overhead(activations: Modelled, limits: Limits, device_bytes: int, weights_bytes: int) -> Modelled:
    """Of TensorRT-LLM: what it runs with, and the share that it leaves of what weights and that do not take."""
    left = 1 - limits.memory_fraction

    def unused(active: float) -> float:
        return left * max(0.0, device_bytes - weights_bytes - active)

    total = activations.total
    parts = {**activations.parts, UNUSED: unused(total.value)}
    return Modelled(Spread(*(end + unused(end) for end in total)), _positive(parts), activations.because)


def _gathered(limits: Limits, architecture: Architecture, layout: Layout) -> Spread:
    """The hidden states of the other data-parallel ranks, on which each rank's experts work: from none, where only the
    tokens that a rank needs are sent to it, to a few copies. Never measured here.
    """
    if layout.dp == 1:
        return ZERO
    size = limits.max_num_batched_tokens * layout.dp * architecture.hidden * _BF16_BYTES
    return Spread(size, 0.0, 3.0 * size)


def _sum(*spreads: Spread) -> Spread:
    return Spread(*map(sum, zip(*spreads, strict=True)))


def _positive(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: size for name, size in parts.items() if size > 0}
