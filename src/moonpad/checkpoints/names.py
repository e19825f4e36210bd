"""What the name of a tensor says: which component it belongs to, in which layer, and whether it is a weight or a scale.

The names are those of DeepSeek-V3's modelling code, which Kimi-K2 uses; Kimi-K2.5 puts `language_model.` before them.
Kimi-Linear and Kimi-K3 call the MLP of experts `block_sparse_moe`, and have layers of Kimi Delta Attention.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from moonpad.values.checkpoint import Component

WRAPPERS: Final = frozenset(("model", "language_model"))
VISION: Final = frozenset(
    ("vision_tower", "vision_model", "visual", "mm_projector", "multi_modal_projector", "vision_projector")
)
OUTSIDE: Final = {
    "embed_tokens": Component.EMBED_TOKENS,
    "lm_head": Component.LM_HEAD,
    **dict.fromkeys(("norm", "output_attn_res_norm", "output_attn_res_proj"), Component.NORMS),
}
ATTENTION: Final = {
    "q_a_proj": Component.Q_A,
    "q_b_proj": Component.Q_B,
    "kv_a_proj_with_mqa": Component.KV_A,
    "kv_b_proj": Component.KV_B,
    "o_proj": Component.O_PROJ,
    "q_a_layernorm": Component.NORMS,
    "kv_a_layernorm": Component.NORMS,
    "rotary_emb": Component.ROTARY,
    # The query matrix of MLA without a latent; in a layer of KDA it is one of its own (groups.py).
    "q_proj": Component.Q_B,
    **dict.fromkeys(("k_proj", "v_proj", "q_conv1d", "k_conv1d", "v_conv1d"), Component.KDA),
    **dict.fromkeys(("b_proj", "f_b_proj", "A_log", "dt_bias"), Component.KDA),
    **dict.fromkeys(("f_a_proj", "g_a_proj"), Component.KDA_LATENT),
    **dict.fromkeys(("g_proj", "g_b_proj"), Component.OUTPUT_GATE),
    "o_norm": Component.NORMS,
}
GATED: Final = ("gate_proj", "up_proj", "down_proj")
MLP: Final = {
    "experts": Component.ROUTED_EXPERTS,
    "shared_experts": Component.SHARED_EXPERTS,
    "gate": Component.ROUTER,
    "routed_expert_norm": Component.NORMS,
    **dict.fromkeys(("routed_expert_down_proj", "routed_expert_up_proj"), Component.EXPERT_LATENT),
    **dict.fromkeys(GATED, Component.DENSE_MLP),
}
NORMS: Final = frozenset(
    (
        *("input_layernorm", "post_attention_layernorm"),
        *("self_attention_res_norm", "self_attention_res_proj", "mlp_res_norm", "mlp_res_proj"),
    )
)

MATRICES: Final = {
    Component.Q_A: ("self_attn.q_a_proj",),
    Component.Q_B: ("self_attn.q_b_proj",),
    Component.KV_A: ("self_attn.kv_a_proj_with_mqa",),
    Component.KV_B: ("self_attn.kv_b_proj",),
    Component.O_PROJ: ("self_attn.o_proj",),
    Component.KDA: tuple(f"self_attn.{name}_proj" for name in ("q", "k", "v", "f_b", "b")),
    Component.KDA_LATENT: ("self_attn.f_a_proj",),
    Component.OUTPUT_GATE: ("self_attn.g_proj",),
    Component.DENSE_MLP: tuple(f"mlp.{name}" for name in GATED),
    Component.SHARED_EXPERTS: tuple(f"mlp.shared_experts.{name}" for name in GATED),
    Component.ROUTED_EXPERTS: tuple(f"mlp.experts.0.{name}" for name in GATED),
}
"""The linear modules of a layer that a quantiser may touch; of the experts the first stands for all."""

OTHERWISE: Final = {
    "self_attn.q_b_proj": "self_attn.q_proj",
    "self_attn.g_proj": "self_attn.g_b_proj",
    "mlp.experts.0.gate_proj": "block_sparse_moe.experts.0.w1",
    "mlp.experts.0.up_proj": "block_sparse_moe.experts.0.w3",
    "mlp.experts.0.down_proj": "block_sparse_moe.experts.0.w2",
    **{f"mlp.shared_experts.{name}": f"block_sparse_moe.shared_experts.{name}" for name in GATED},
}
"""What Kimi-Linear calls some of them."""

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
    if block in ("mlp", "block_sparse_moe"):
        return MLP.get(module, Component.OTHER)
    return Component.NORMS if block in NORMS else Component.OTHER


def modules(component: Component, layer: int) -> Iterator[tuple[str, ...]]:
    """Each linear module of a component in a layer, by every name that a quantiser's configuration may know it by."""
    for matrix in MATRICES[component]:
        spellings = [f"model.layers.{layer}.{name}" for name in (matrix, OTHERWISE.get(matrix)) if name]
        yield (*spellings, *(f"language_model.{name}" for name in spellings))
