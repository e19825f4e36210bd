"""The sizes of a model from its config.json, read as a hostile file (fault 58): each number has a range.

Two architectures are modelled: DeepSeek-V3's, with multi-head latent attention and sigmoid routing, which the whole
Kimi-K2 family has, Moonlight and Kimi-VL too, and that of Kimi-Linear and Kimi-K3, which has Kimi Delta Attention in
most layers. Everything else is refused by name, since its memory would be calculated wrongly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from moonpad.values.checkpoint import Architecture, LinearAttention
from moonpad.values.errors import CheckpointError

LINEAR: Final = "kimi_linear"
K3: Final = "kimi_k3"
TEXT_MODELS: Final = frozenset(("kimi_k2", "deepseek_v3"))
VL: Final = "kimi_vl"
MULTIMODAL: Final = {"kimi_k25": TEXT_MODELS, K3: frozenset((LINEAR,)), VL: frozenset(("deepseek_v3",))}
"""They keep the sizes of the language model under `text_config`; the models that it may be."""
LINEAR_KEYS: Final = {
    "n_routed_experts": "num_experts",
    "num_experts_per_tok": "num_experts_per_token",
    "n_shared_experts": "num_shared_experts",
    "scoring_func": "moe_router_activation_func",
    "max_position_embeddings": "model_max_length",
}
"""What `kimi_linear` calls some keys of DeepSeek-V3."""

MAX_LAYERS: Final = 1_000
MAX_WIDTH: Final = 1 << 20
MAX_HEADS: Final = 1 << 12
MAX_EXPERTS: Final = 1 << 16
MAX_VOCABULARY: Final = 1 << 24
MAX_CONTEXT: Final = 1 << 40
MAX_GRID: Final = 1 << 12

MISSING: Final = object()
MAX_KERNEL: Final = 64


def language_model(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a config.json that describes the language model.

    Raises:
        CheckpointError: it is of an architecture that is not modelled.
    """
    kind = config.get("model_type")
    if not isinstance(kind, str):
        raise CheckpointError("has no model_type")
    text = config.get("text_config") if kind in MULTIMODAL else config
    if not isinstance(text, Mapping):
        raise CheckpointError(f"is of the kind {kind} but has no text_config")
    inner = text.get("model_type")
    if not isinstance(inner, str) or inner not in MULTIMODAL.get(kind, TEXT_MODELS | {LINEAR}):
        raise CheckpointError(f"is of the kind {short(inner)}: its attention is not modelled")
    return text


def read_architecture(config: Mapping[str, Any]) -> Architecture:
    """Raises CheckpointError with the key and its value where a size is missing or cannot be."""
    text = language_model(config)
    linear_model = text["model_type"] == LINEAR
    keys = {key: theirs if linear_model and theirs in text else key for key, theirs in LINEAR_KEYS.items()}
    if text.get("moe_layer_freq", 1) != 1:
        raise CheckpointError(f"has moe_layer_freq {short(text['moe_layer_freq'])}; only 1 is modelled")
    if text.get("attention_bias", False) is not False:
        raise CheckpointError("has attention_bias, which is not modelled")
    layers = integer(text, "num_hidden_layers", 1, MAX_LAYERS)
    experts = integer(text, keys["n_routed_experts"], 1, MAX_EXPERTS)
    tied_embeddings = text.get("tie_word_embeddings", False)
    if not isinstance(tied_embeddings, bool):
        raise CheckpointError(f"has tie_word_embeddings {short(tied_embeddings)}, which is not true or false")
    return Architecture(
        model_type=str(config["model_type"]),
        layers=layers,
        hidden=integer(text, "hidden_size", 1, MAX_WIDTH),
        heads=integer(text, "num_attention_heads", 1, MAX_HEADS),
        # Without it the queries have no latent of their own: Kimi-Linear, Moonlight and Kimi-VL.
        q_lora_rank=0 if text.get("q_lora_rank") is None else _latent(text, "q_lora_rank"),
        kv_lora_rank=_latent(text, "kv_lora_rank"),
        qk_nope_head_dim=_latent(text, "qk_nope_head_dim"),
        qk_rope_head_dim=_latent(text, "qk_rope_head_dim"),
        v_head_dim=_latent(text, "v_head_dim"),
        intermediate=integer(text, "intermediate_size", 1, MAX_WIDTH),
        dense_layers=integer(text, "first_k_dense_replace", 0, layers, 0),
        routed_experts=experts,
        experts_per_token=integer(text, keys["num_experts_per_tok"], 1, experts),
        shared_experts=integer(text, keys["n_shared_experts"], 0, MAX_EXPERTS, 0),
        moe_intermediate=integer(text, "moe_intermediate_size", 1, MAX_WIDTH),
        vocabulary=integer(text, "vocab_size", 1, MAX_VOCABULARY),
        max_context=integer(text, keys["max_position_embeddings"], 1, MAX_CONTEXT),
        tied_embeddings=tied_embeddings,
        vision_parameters=_vision(config),
        vision_heads=_vision_heads(config),
        nextn_layers=integer(text, "num_nextn_predict_layers", 0, MAX_LAYERS, 0),
        topk_method=_word(text, "topk_method", "noaux_tc"),
        scoring=_word(text, keys["scoring_func"], "sigmoid"),
        linear=_linear_attention(text, layers, k3=config["model_type"] == K3) if linear_model else None,
        output_gate=linear_model and _switch(text, "mla_use_output_gate"),
        expert_hidden=integer(text, "routed_expert_hidden_size", 1, MAX_WIDTH)
        if linear_model and text.get("routed_expert_hidden_size") is not None
        else 0,
        attention_residuals=linear_model and text.get("attn_res_block_size") is not None,
    )


def _linear_attention(text: Mapping[str, Any], layers: int, *, k3: bool) -> LinearAttention:
    """`linear_attn_config` counts the layers from 1. Types that it does not give are those of the released files."""
    linear = text.get("linear_attn_config")
    if not isinstance(linear, dict):
        raise CheckpointError("has no linear_attn_config: which layers have linear attention is not known")
    full, kda = linear.get("full_attn_layers"), linear.get("kda_layers")
    if (
        not isinstance(full, list)
        or not isinstance(kda, list)
        or any(type(layer) is not int for layer in (*full, *kda))
    ):
        raise CheckpointError("has a linear_attn_config without lists of full_attn_layers and kda_layers")
    if len(full) + len(kda) != layers or {*full, *kda} != {*range(1, layers + 1)} or not full or not kda:
        raise CheckpointError(f"has a linear_attn_config whose lists do not name each of the {layers} layers once")
    heads = integer(linear, "num_heads", 1, MAX_HEADS)
    return LinearAttention(
        mla_layers=tuple(sorted(layer - 1 for layer in full)),
        heads=heads,
        head_dim=integer(linear, "head_dim", 1, MAX_WIDTH),
        kernel=integer(linear, "short_conv_kernel_size", 1, MAX_KERNEL),
        full_gate=_switch(linear, "use_full_rank_gate"),
        decays=1 << (heads - 1).bit_length() if k3 else 0,
        fp32_convolution=k3,
    )


def _switch(table: Mapping[str, Any], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise CheckpointError(f"has {key} {short(value)}, which is not true or false")
    return value


def integer(table: Mapping[str, Any], key: str, least: int, most: int, default: int | None = None) -> int:
    """The integer of a key; `default` where the key is missing, if there is one."""
    value = table.get(key, MISSING if default is None else default)
    if value is MISSING:
        raise CheckpointError(f"has no {key}")
    if type(value) is not int:  # True is an int of Python, and orjson gives a float for what exceeds 64 bits
        raise CheckpointError(f"has {key} {short(value)}, which is not a plausible integer")
    if not least <= value <= most:
        raise CheckpointError(f"has {key} {value}; {least} to {most} is plausible")
    return value


def _latent(text: Mapping[str, Any], key: str) -> int:
    """A size of multi-head latent attention. Plain attention has none of them."""
    if text.get(key) is None:
        raise CheckpointError(f"has no {key}: its attention is not modelled")
    return integer(text, key, 1, MAX_WIDTH)


def _word(text: Mapping[str, Any], key: str, default: str) -> str:
    value = text.get(key, default)
    if not isinstance(value, str) or not 0 < len(value) <= 40 or not value.isprintable():
        raise CheckpointError(f"has {key} {short(value)}, which is not a name")
    return value


def _vision(config: Mapping[str, Any]) -> int:
    """Parameters of MoonViT and its projector; 0 for text alone.

    The modules are those of modeling_kimi_k25.py in moonshotai/Kimi-K2.5, whose sizes give 471,143,920, of
    modeling_kimi_k3.py, which give 447,358,976, and of modeling_kimi_vl.py, which give 447,545,840.
    """
    vision = config.get("vision_config")
    if vision is None or config["model_type"] not in MULTIMODAL:
        return 0
    if not isinstance(vision, dict):
        raise CheckpointError("has a vision_config that is not an object")
    alone = config["model_type"] == VL  # its tower is described apart from the projector
    of_tower = "" if alone else "vt_"
    width = integer(vision, f"{of_tower}hidden_size", 1, MAX_WIDTH)
    inner = integer(vision, f"{of_tower}intermediate_size", 1, MAX_WIDTH)
    layers = integer(vision, f"{of_tower}num_hidden_layers", 0, MAX_LAYERS)
    patch = integer(vision, "patch_size", 1, MAX_GRID)
    grid = integer(vision, "init_pos_emb_height", 1, MAX_GRID) * integer(vision, "init_pos_emb_width", 1, MAX_GRID)
    from_tower = width if alone else integer(vision, "mm_hidden_size", 1, MAX_WIDTH)
    merged = from_tower * math.prod(pair(vision, "merge_kernel_size", MAX_GRID))
    text, key = (config["text_config"], "hidden_size") if alone else (vision, "text_hidden_size")
    text_width = integer(text, key, 1, MAX_WIDTH)
    if config["model_type"] == K3:  # without biases, with RMS norms; a norm stands behind the projector
        heads = integer(vision, "qkv_hidden_size", 1, MAX_WIDTH)
        tower = (3 * patch * patch + grid + 1) * width + layers * width * (4 * heads + 2 * inner + 2)
        return tower + merged * merged + merged * text_width + text_width
    layer_norm = 2 * width
    attention = _linear(width, 3 * width) + _linear(width, width)
    block = 2 * layer_norm + attention + _linear(width, inner) + _linear(inner, width)
    tower = _linear(3 * patch * patch, width) + grid * width + layer_norm
    tower += layers * block
    return tower + layer_norm + _linear(merged, merged) + _linear(merged, text_width)


def _vision_heads(config: Mapping[str, Any]) -> int:
    """Of its attention; 0 where there is no tower, or its heads are not given."""
    vision = config.get("vision_config")
    if not isinstance(vision, dict) or config["model_type"] not in MULTIMODAL:
        return 0
    return integer(vision, f"{'' if config['model_type'] == VL else 'vt_'}num_attention_heads", 0, MAX_HEADS, 0)


def pair(table: Mapping[str, Any], key: str, most: int) -> tuple[int, int]:
    """A list of two positive integers."""
    sizes = table.get(key)
    if not isinstance(sizes, list) or len(sizes) != 2:
        raise CheckpointError(f"has {key} {short(sizes)}, which is not a pair of sizes")
    sides = {"rows": sizes[0], "columns": sizes[1]}
    return integer(sides, "rows", 1, most), integer(sides, "columns", 1, most)


def _linear(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


def short(value: object) -> str:
    """As much of a stranger's value as a message can carry. A list may be nested too deeply to be printed."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
