"""What a draft's config.json says of its sizes; a broken one says nothing and breaks nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.drafts import drafts
from moonpad.checkpoints.draft import read_draft

# https://huggingface.co/AQ-MedAI/Kimi-K25-eagle3/blob/main/config.json, as far as sizes go.
AQ: dict[str, Any] = {
    "architectures": ["LlamaForCausalLMEagle3"],
    "draft_vocab_size": 32000,
    "head_dim": 128,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "max_position_embeddings": 262144,
    "num_attention_heads": 64,
    "num_hidden_layers": 1,
    "num_key_value_heads": 64,
    "vocab_size": 163840,
}
# https://huggingface.co/k-l-lambda/Kimi-K2.5-Eagle3/blob/main/config.json
LATENT = AQ | {
    "draft_vocab_size": 163840,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}
DFLASH = AQ | {
    "draft_vocab_size": None,
    "num_hidden_layers": 6,
    "num_key_value_heads": 8,
    "dflash_config": {"target_layer_ids": [1, 12, 24, 35, 47, 58]},
}


def write(folder: Path, config: object) -> Path:
    (folder / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    return folder


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (AQ, "aq-medai/kimi-k25-eagle3"),
        (LATENT, "k-l-lambda/kimi-k2.5-eagle3"),
        (DFLASH, "z-lab/kimi-k2.5-dflash"),
    ],
)
def test_published_ones(tmp_path: Path, config: object, name: str) -> None:
    assert read_draft(write(tmp_path, config)) == drafts()[name].sizes


@pytest.mark.parametrize(
    "config",
    [
        "",
        "[]",
        "{",
        '{"a": ' * 5000,
        {},
        AQ | {"hidden_size": -1},
        AQ | {"hidden_size": 10**30},
        AQ | {"num_hidden_layers": True},
        AQ | {"num_attention_heads": "64"},
        AQ | {"draft_vocab_size": 0.5},
        AQ | {"kv_lora_rank": [512]},
        AQ | {"max_position_embeddings": None},
    ],
)
def test_broken_ones(tmp_path: Path, config: object) -> None:
    assert read_draft(write(tmp_path, config)) is None


def test_none_at_all(tmp_path: Path) -> None:
    assert read_draft(tmp_path) is None
    assert read_draft(tmp_path / "missing") is None
    (tmp_path / "config.json").mkdir()
    assert read_draft(tmp_path) is None
