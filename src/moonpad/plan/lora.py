"""The buffers for LoRA adapters, which vLLM allocates at its start for every linear layer, whatever an adapter targets.

Each holds, for `max_loras` adapters, A of rank × inputs and B of outputs × rank in BF16 (vllm/lora/layers:
`create_lora_weights`). A column-parallel layer slices B, a row-parallel one A; the other is whole on every rank. Routed
experts have a pair for each matrix of each expert on the device (`FusedMoEWithLoRA`, since 0.11.1): they decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from moonpad.plan.weights import Stage
from moonpad.values.configuration import Configuration

DEFAULT_RANK = 16
EXPERTS_SINCE = "0.11.1"
_BF16_BYTES = 2

Sizes = tuple[int, int]
"""Inputs and outputs of one layer, as a rank has them."""


def lora_bytes(configuration: Configuration, stages: Sequence[Stage]) -> tuple[int, ...]:
    """On a device of each pipeline stage; nothing where no adapter is served."""
    settings, dense = configuration.settings, configuration.architecture.dense_layers
    values = max(0, settings.max_loras) * max(1, settings.max_lora_rank or DEFAULT_RANK) * _BF16_BYTES
    if not values:
        return (0,) * len(stages)
    both = sum(map(sum, _attention(configuration)))
    mlp, experts = sum(map(sum, _dense(configuration))), sum(map(sum, _experts(configuration)))
    by_stage = []
    for first, end in stages:
        of_dense = max(0, min(end, dense) - first)
        by_stage.append(values * ((end - first) * both + of_dense * mlp + (end - first - of_dense) * experts))
    return tuple(by_stage)


def _attention(configuration: Configuration) -> Iterator[Sizes]:
    architecture, tp = configuration.architecture, configuration.layout.tp
    hidden, heads, latent = architecture.hidden, architecture.heads, architecture.kv_lora_rank
    key = architecture.qk_nope_head_dim + architecture.qk_rope_head_dim
    if architecture.q_lora_rank:
        yield hidden, architecture.q_lora_rank
    yield architecture.q_lora_rank or hidden, heads * key // tp
    yield hidden, latent + architecture.qk_rope_head_dim
    yield latent, heads * (architecture.qk_nope_head_dim + architecture.v_head_dim) // tp
    yield heads * architecture.v_head_dim // tp, hidden


def _dense(configuration: Configuration) -> Iterator[Sizes]:
    architecture = configuration.architecture
    yield from _mlp(architecture.hidden, architecture.intermediate // configuration.layout.tp)


def _experts(configuration: Configuration) -> Iterator[Sizes]:
    """Of a layer with experts: the router, the shared experts, and the routed ones that the device holds."""
    architecture, layout = configuration.architecture, configuration.layout
    hidden, inner = architecture.hidden, architecture.moe_intermediate
    yield hidden, architecture.routed_experts
    yield from _mlp(hidden, architecture.shared_experts * inner // layout.tp)
    if configuration.since(EXPERTS_SINCE):
        held = -(-architecture.routed_experts // layout.ep)
        for inputs, outputs in _mlp(hidden, inner // configuration.expert_slices):
            yield held * inputs, held * outputs


def _mlp(hidden: int, inner: int) -> tuple[Sizes, ...]:
    """Gate, up and down."""
    return (hidden, inner), (hidden, inner), (inner, hidden)
