"""The sizes of a model from its config.json, read as a hostile file (fault 58): each number has a range.

One architecture is modelled: DeepSeek-V3's, with multi-head latent attention and sigmoid routing, which the whole
Kimi-K2 family has. Everything else is refused by name, since its memory would be calculated wrongly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from moonpad.values.checkpoint import Architecture
from moonpad.values.errors import CheckpointError

TEXT_MODELS: Final = frozenset(("kimi_k2", "deepseek_v3"))
MULTIMODAL: Final = frozenset(("kimi_k25",))
"""They keep the sizes of the language model under `text_config`."""

MAX_LAYERS: Final = 1_000
MAX_WIDTH: Final = 1 << 20
MAX_HEADS: Final = 1 << 12
MAX_EXPERTS: Final = 1 << 16
MAX_VOCABULARY: Final = 1 << 24
MAX_CONTEXT: Final = 1 << 40
MAX_GRID: Final = 1 << 12

MISSING: Final = object()
LATENTS: Final = ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")


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
    if not isinstance(inner, str) or inner not in TEXT_MODELS:
        raise CheckpointError(f"is of the kind {short(inner)}: its attention is not modelled")
    return text


def read_architecture(config: Mapping[str, Any]) -> Architecture:
    """Raises CheckpointError with the key and its value where a size is missing or cannot be."""
    text = language_model(config)
    if text.get("moe_layer_freq", 1) != 1:
        raise CheckpointError(f"has moe_layer_freq {short(text['moe_layer_freq'])}; only 1 is modelled")
    if text.get("attention_bias", False) is not False:
        raise CheckpointError("has attention_bias, which is not modelled")
    layers = integer(text, "num_hidden_layers", 1, MAX_LAYERS)
    experts = integer(text, "n_routed_experts", 1, MAX_EXPERTS)
    tied_embeddings = text.get("tie_word_embeddings", False)
    if not isinstance(tied_embeddings, bool):
        raise CheckpointError(f"has tie_word_embeddings {short(tied_embeddings)}, which is not true or false")
    return Architecture(
        model_type=str(config["model_type"]),
        layers=layers,
        hidden=integer(text, "hidden_size", 1, MAX_WIDTH),
        heads=integer(text, "num_attention_heads", 1, MAX_HEADS),
        **{key: _latent(text, key) for key in LATENTS},
        intermediate=integer(text, "intermediate_size", 1, MAX_WIDTH),
        dense_layers=integer(text, "first_k_dense_replace", 0, layers, 0),
        routed_experts=experts,
        experts_per_token=integer(text, "num_experts_per_tok", 1, experts),
        shared_experts=integer(text, "n_shared_experts", 0, MAX_EXPERTS, 0),
        moe_intermediate=integer(text, "moe_intermediate_size", 1, MAX_WIDTH),
        vocabulary=integer(text, "vocab_size", 1, MAX_VOCABULARY),
        max_context=integer(text, "max_position_embeddings", 1, MAX_CONTEXT),
        tied_embeddings=tied_embeddings,
        vision_parameters=_vision(config),
        nextn_layers=integer(text, "num_nextn_predict_layers", 0, MAX_LAYERS, 0),
        topk_method=_word(text, "topk_method", "noaux_tc"),
        scoring=_word(text, "scoring_func", "sigmoid"),
    )


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
    """A size of multi-head latent attention. Kimi-VL has `q_lora_rank: null`, plain attention has none of them."""
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

    The modules are those of modeling_kimi_k25.py in moonshotai/Kimi-K2.5; its sizes give 471,143,920.
    """
    vision = config.get("vision_config")
    if vision is None or config["model_type"] not in MULTIMODAL:
        return 0
    if not isinstance(vision, dict):
        raise CheckpointError("has a vision_config that is not an object")
    width = integer(vision, "vt_hidden_size", 1, MAX_WIDTH)
    inner = integer(vision, "vt_intermediate_size", 1, MAX_WIDTH)
    patch = integer(vision, "patch_size", 1, MAX_GRID)
    grid = integer(vision, "init_pos_emb_height", 1, MAX_GRID) * integer(vision, "init_pos_emb_width", 1, MAX_GRID)
    merged = integer(vision, "mm_hidden_size", 1, MAX_WIDTH) * math.prod(pair(vision, "merge_kernel_size", MAX_GRID))
    text_width = integer(vision, "text_hidden_size", 1, MAX_WIDTH)
    layer_norm = 2 * width
    attention = _linear(width, 3 * width) + _linear(width, width)
    block = 2 * layer_norm + attention + _linear(width, inner) + _linear(inner, width)
    tower = _linear(3 * patch * patch, width) + grid * width + layer_norm
    tower += integer(vision, "vt_num_hidden_layers", 0, MAX_LAYERS) * block
    return tower + layer_norm + _linear(merged, merged) + _linear(merged, text_width)


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
