"""What the name of a tensor says: which component it belongs to, in which layer, and whether it is a weight or a scale.

The names are those of DeepSeek-V3's modelling code, which Kimi-K2 uses; Kimi-K2.5 puts `language_model.` before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from moonpad.values.checkpoint import Component

WRAPPERS: Final = frozenset(("model", "language_model"))
VISION: Final = frozenset(
    ("vision_tower", "vision_model", "visual", "mm_projector", "multi_modal_projector", "vision_projector")
)
OUTSIDE: Final = {"embed_tokens": Component.EMBED_TOKENS, "lm_head": Component.LM_HEAD, "norm": Component.NORMS}
ATTENTION: Final = {
    "q_a_proj": Component.Q_A,
    "q_b_proj": Component.Q_B,
    "kv_a_proj_with_mqa": Component.KV_A,
    "kv_b_proj": Component.KV_B,
    "o_proj": Component.O_PROJ,
    "q_a_layernorm": Component.NORMS,
    "kv_a_layernorm": Component.NORMS,
    "rotary_emb": Component.ROTARY,
}
GATED: Final = ("gate_proj", "up_proj", "down_proj")
MLP: Final = {
    "experts": Component.ROUTED_EXPERTS,
    "shared_experts": Component.SHARED_EXPERTS,
    "gate": Component.ROUTER,
    **dict.fromkeys(GATED, Component.DENSE_MLP),
}
NORMS: Final = frozenset(("input_layernorm", "post_attention_layernorm"))

MATRICES: Final = {
    Component.Q_A: ("self_attn.q_a_proj",),
    Component.Q_B: ("self_attn.q_b_proj",),
    Component.KV_A: ("self_attn.kv_a_proj_with_mqa",),
    Component.KV_B: ("self_attn.kv_b_proj",),
    Component.O_PROJ: ("self_attn.o_proj",),
    Component.DENSE_MLP: tuple(f"mlp.{name}" for name in GATED),
    Component.SHARED_EXPERTS: tuple(f"mlp.shared_experts.{name}" for name in GATED),
    Component.ROUTED_EXPERTS: tuple(f"mlp.experts.0.{name}" for name in GATED),
}
"""The linear modules of a layer that a quantiser may touch; of the experts the first stands for all."""

SCALES: Final = frozenset(
    (
        "weight_scale_inv",
        "weight_scale",
        "weight_scale_2",
        "weight_scale_second",
        "weight_global_scale",
        "weight_shape",
        "weight_zero_point",
        "weight_offset",
        "weight_offset_second",
        "weight_g_idx",
        "input_scale",
        "input_global_scale",
        "input_offset",
        "scale_bias",
        "deq_scale",
        "quant_bias",
        "k_scale",
        "v_scale",
        "kv_cache_scale",
        "kv_cache_offset",
        "qzeros",
        "scales",
        "g_idx",
    )
)


class TensorPlace(NamedTuple):
    """`layer` None: outside the layers. `scale`: it belongs to a weight and is none itself."""

    component: Component
    layer: int | None
    scale: bool


def place_of(name: str) -> TensorPlace:
    """Component.OTHER for a name that is not of this architecture."""
    parts = name.split(".")
    while parts and parts[0] in WRAPPERS:
        parts.pop(0)
    if parts and parts[0] in VISION:
        return TensorPlace(Component.VISION, None, False)
    scale = bool(parts) and parts[-1] in SCALES
    match parts:
        case ["layers", number, block, module, *_] if number.isascii() and number.isdigit() and len(number) < 7:
            return TensorPlace(_in_layer(block, module), int(number), scale)
        case [module, _]:
            return TensorPlace(OUTSIDE.get(module, Component.OTHER), None, scale)
    return TensorPlace(Component.OTHER, None, scale)


def _in_layer(block: str, module: str) -> Component:
    if block == "self_attn":
        return ATTENTION.get(module, Component.OTHER)
    if block == "mlp":
        return MLP.get(module, Component.OTHER)
    return Component.NORMS if block in NORMS else Component.OTHER


def modules(component: Component, layer: int) -> Iterator[tuple[str, ...]]:
    """Each linear module of a component in a layer, by every name that a quantiser's configuration may know it by."""
    for matrix in MATRICES[component]:
        plain = f"model.layers.{layer}.{matrix}"
        yield plain, f"language_model.{plain}"
