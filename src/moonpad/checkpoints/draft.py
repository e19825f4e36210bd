"""The sizes of a draft model from the config.json in its folder, read as a hostile file like every other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from moonpad.checkpoints.architecture import (
    MAX_CONTEXT,
    MAX_HEADS,
    MAX_LAYERS,
    MAX_VOCABULARY,
    MAX_WIDTH,
    integer,
)
from moonpad.checkpoints.config import config_document
from moonpad.spec.loader import LoadedSpec
from moonpad.values.draft import DraftSizes
from moonpad.values.errors import CheckpointError

MOST_DRAFT_LAYERS = 64
LATENTS = ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
FUSED_LAYERS = 3


def draft_of(loaded: LoadedSpec) -> DraftSizes | None:
    """Of the draft that a spec names, if its folder is here."""
    name = loaded.spec.settings.draft
    return read_draft(loaded.resolve(name)) if name else None


def read_draft(folder: Path) -> DraftSizes | None:
    """None where there is no config.json, or one that does not give the sizes of such a model: its name, or an
    assumption, then stands for it."""
    try:
        return _sizes(config_document(folder))
    except (CheckpointError, OSError, ValueError):
        return None


def _sizes(config: Mapping[str, Any]) -> DraftSizes:
    dflash = config.get("dflash_config")
    inner = dflash if isinstance(dflash, Mapping) else None
    layers = inner.get("target_layer_ids") if inner is not None else None
    heads, hidden = integer(config, "num_attention_heads", 1, MAX_HEADS), integer(config, "hidden_size", 1, MAX_WIDTH)
    vocabulary = integer(config, "vocab_size", 1, MAX_VOCABULARY)
    if config.get("draft_vocab_size") is not None:
        vocabulary = integer(config, "draft_vocab_size", 1, MAX_VOCABULARY)
    attention: dict[str, Any]
    if config.get("kv_lora_rank") is not None:
        attention = {name: integer(config, name, 0, MAX_WIDTH, 0) for name in LATENTS if config.get(name) is not None}
    else:
        attention = {
            "kv_heads": integer(config, "num_key_value_heads", 1, MAX_HEADS, heads),
            "head_dim": integer(config, "head_dim", 1, MAX_WIDTH, max(1, hidden // heads)),
        }
    return DraftSizes(
        method="dflash" if inner is not None else "eagle3",
        layers=integer(config, "num_hidden_layers", 1, MAX_LAYERS),
        fused_layers=len(layers[:MOST_DRAFT_LAYERS]) if isinstance(layers, list) and layers else FUSED_LAYERS,
        hidden=hidden,
        intermediate=integer(config, "intermediate_size", 1, MAX_WIDTH),
        heads=heads,
        vocabulary=0 if inner is not None else vocabulary,
        max_context=integer(config, "max_position_embeddings", 1, MAX_CONTEXT),
        **attention,
    )
