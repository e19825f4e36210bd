"""Sizes and formats from config.json. Fault 58: a hostile one gives CheckpointError and nothing else."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpad.catalog.model_row import architectures
from moonpad.checkpoints.architecture import read_architecture
from moonpad.checkpoints.config import load_object
from moonpad.checkpoints.quantization import read_quantization
from moonpad.plan.tensors import tensor_groups
from moonpad.values.errors import CheckpointError
from moonpad.values.records import replace
from tests.unit.plan import known

CONFIGS = Path(__file__).parent / "configs"

K2 = replace(known.K2, max_context=131072)


def config(name: str) -> dict[str, Any]:
    return load_object((CONFIGS / f"{name}_config.json").read_bytes())


INSTRUCT = config("moonshotai--Kimi-K2-Instruct")


def changed(**values: object) -> dict[str, Any]:
    return {**copy.deepcopy(INSTRUCT), **values}


def test_k2_instruct() -> None:
    assert read_architecture(INSTRUCT) == K2


def test_k2_5_keeps_its_sizes_under_text_config() -> None:
    architecture = read_architecture(config("moonshotai--Kimi-K2.5"))
    assert (architecture.model_type, architecture.max_context, architecture.layers) == ("kimi_k25", 262144, 61)
    # 942,287,840 bytes of vision tensors in BF16.
    assert architecture.vision_parameters * 2 == 942_287_840
    assert architecture.vision_heads == 16


def test_of_a_multimodal_one_the_text_alone_can_be_there() -> None:
    document = config("moonshotai--Kimi-K2.5")
    del document["vision_config"]
    assert read_architecture(document).vision_parameters == 0


# As configuration_kimi_vl.py and the Moonlight configurations of training frameworks have them.
MOONLIGHT: dict[str, Any] = {
    "model_type": "deepseek_v3",
    "vocab_size": 163840,
    "hidden_size": 2048,
    "intermediate_size": 11264,
    "moe_intermediate_size": 1408,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "num_experts_per_tok": 6,
    "first_k_dense_replace": 1,
    "q_lora_rank": None,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "max_position_embeddings": 8192,
}
KIMI_VL: dict[str, Any] = {
    "model_type": "kimi_vl",
    "text_config": {**MOONLIGHT, "max_position_embeddings": 131072},
    "vision_config": {
        "model_type": "moonvit",
        "patch_size": 14,
        "init_pos_emb_height": 64,
        "init_pos_emb_width": 64,
        "num_attention_heads": 16,
        "num_hidden_layers": 27,
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "merge_kernel_size": [2, 2],
    },
}


def test_moonlight_has_no_latent_of_its_queries() -> None:
    assert read_architecture(MOONLIGHT) == architectures()["moonlight"].value


def test_kimi_vl_names_its_tower_in_its_own_way() -> None:
    assert read_architecture(KIMI_VL) == architectures()["kimi-vl"].value
    with pytest.raises(CheckpointError, match="has no vt_hidden_size"):
        read_architecture({**KIMI_VL, "model_type": "kimi_k25"})
    with pytest.raises(CheckpointError, match="'kimi_k2': its attention is not modelled"):
        read_architecture({**KIMI_VL, "text_config": {**MOONLIGHT, "model_type": "kimi_k2"}})


@pytest.mark.parametrize("name", ["nvidia--Kimi-K2.5-NVFP4", "nvidia--Kimi-K2.6-NVFP4"])
def test_a_quantised_one_has_the_same_sizes(name: str) -> None:
    assert read_architecture(config(name)) == read_architecture(config("moonshotai--Kimi-K2.5"))


def test_other_attention_is_refused_by_name() -> None:
    for kind in ("kimi_audio", "llama", "deepseek_v32"):
        with pytest.raises(CheckpointError, match=f"'{kind}': its attention is not modelled"):
            read_architecture(changed(model_type=kind))
    with pytest.raises(CheckpointError, match="'qwen3_moe': its attention is not modelled"):
        read_architecture({"model_type": "kimi_k25", "text_config": {"model_type": "qwen3_moe"}})
    for outer, inner in (("kimi_k3", "kimi_k2"), ("kimi_k25", "kimi_linear")):
        with pytest.raises(CheckpointError, match=f"'{inner}': its attention is not modelled"):
            read_architecture({"model_type": outer, "text_config": {"model_type": inner}})


def test_deepseek_v3_is_the_same_architecture() -> None:
    architecture = read_architecture(
        changed(model_type="deepseek_v3", num_nextn_predict_layers=1, topk_method="noaux_tc")
    )
    assert (architecture.model_type, architecture.nextn_layers, architecture.layers) == ("deepseek_v3", 1, 61)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("num_hidden_layers", -3, "num_hidden_layers -3; 1 to 1000"),
        ("num_hidden_layers", 0, "num_hidden_layers 0"),
        ("n_routed_experts", 10**30, "n_routed_experts 1e.30"),
        ("n_routed_experts", 2**40, "n_routed_experts 1099511627776"),
        ("hidden_size", "7168", "hidden_size '7168'"),
        ("hidden_size", True, "hidden_size True"),
        ("hidden_size", 7168.0, "hidden_size 7168.0"),
        ("hidden_size", None, "hidden_size None"),
        ("hidden_size", [[[1]]], "hidden_size a list"),
        ("vocab_size", "x" * 10_000, "vocab_size 'x{59}…, which"),
        ("q_lora_rank", 0, "q_lora_rank 0"),
        ("kv_lora_rank", None, "no kv_lora_rank: its attention is not modelled"),
        ("kv_lora_rank", 0, "kv_lora_rank 0"),
        ("first_k_dense_replace", 62, "first_k_dense_replace 62; 0 to 61"),
        ("num_experts_per_tok", 385, "num_experts_per_tok 385; 1 to 384"),
        ("moe_layer_freq", 2, "moe_layer_freq 2"),
        ("attention_bias", True, "attention_bias"),
        ("tie_word_embeddings", "yes", "tie_word_embeddings 'yes'"),
        ("topk_method", "\x1b[31m", "topk_method"),
        ("model_type", 7, "has no model_type"),
    ],
)
def test_a_size_that_cannot_be(key: str, value: object, message: str) -> None:
    document = load_object(json.dumps(changed(**{key: value})).encode())
    with pytest.raises(CheckpointError, match=message):
        read_architecture(document)


def test_a_missing_size_is_named() -> None:
    document = changed()
    del document["moe_intermediate_size"]
    with pytest.raises(CheckpointError, match="has no moe_intermediate_size"):
        read_architecture(document)


def test_a_vision_tower_that_cannot_be() -> None:
    for vision in ({}, [], {"vt_hidden_size": -1}, {"merge_kernel_size": "2"}):
        document = config("moonshotai--Kimi-K2.5")
        document["vision_config"] = {**document["vision_config"], **vision} if isinstance(vision, dict) else vision
        if vision == {}:
            assert read_architecture(document).vision_parameters
            continue
        with pytest.raises(CheckpointError):
            read_architecture(document)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
SMALL = st.integers(-2, 6)
KEYS = st.sampled_from(sorted({*INSTRUCT, "text_config", "vision_config", "dtype"}))


@settings(max_examples=200)
@given(st.sampled_from(["moonshotai--Kimi-K2-Instruct", "moonshotai--Kimi-K2.5"]), st.dictionaries(KEYS, JSON | SMALL))
def test_any_mutation_is_read_or_refused(name: str, mutations: dict[str, Any]) -> None:
    document = config(name)
    holder = document.get("text_config", document)
    holder.update(mutations)
    try:
        architecture = read_architecture(document)
        quantized = read_quantization(document, architecture)
    except CheckpointError:
        return
    if architecture.layers * architecture.routed_experts < 10**6:
        assert all(group.size_bytes > 0 for group in tensor_groups(architecture, quantized.quantization))


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    with pytest.raises(CheckpointError):
        read_architecture(load_object(raw))
