"""Kimi-Linear and Kimi-K3 against public listings of their files' headers, written out here by name, type and shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from math import prod
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.models import find_model
from moonpad.checkpoints.architecture import read_architecture
from moonpad.checkpoints.expectations import calculated_groups, compare
from moonpad.checkpoints.names import place_of
from moonpad.checkpoints.quantization import read_quantization
from moonpad.checkpoints.read import read_checkpoint
from moonpad.cli.checkpoint import state_bytes_per_sequence
from moonpad.plan.tensors import catalog_checkpoint, tensor_groups
from moonpad.values.checkpoint import Component
from moonpad.values.errors import CheckpointError
from tests.unit.checkpoints.conftest import Writer

CONFIGS = Path(__file__).parent / "configs"
K3: dict[str, Any] = json.loads((CONFIGS / "moonshotai--Kimi-K3_config.json").read_text())
LINEAR: dict[str, Any] = {
    "model_type": "kimi_linear",
    "dtype": "bfloat16",
    "first_k_dense_replace": 1,
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "kv_lora_rank": 512,
    "linear_attn_config": {
        "full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
        "head_dim": 128,
        "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26],
        "num_heads": 32,
        "short_conv_kernel_size": 4,
    },
    "mla_use_nope": True,
    "model_max_length": 1048576,
    "moe_intermediate_size": 1024,
    "moe_layer_freq": 1,
    "moe_router_activation_func": "sigmoid",
    "num_attention_heads": 32,
    "num_experts": 256,
    "num_experts_per_token": 8,
    "num_hidden_layers": 27,
    "num_nextn_predict_layers": 0,
    "num_shared_experts": 1,
    "q_lora_rank": None,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "tie_word_embeddings": False,
    "v_head_dim": 128,
    "vocab_size": 163840,
}
"""config.json of moonshotai/Kimi-Linear-48B-A3B-Instruct, less what says nothing of sizes."""

Tensor = tuple[str, str, tuple[int, ...]]
BYTES = {"BF16": 2, "F32": 4, "U8": 1}


def linear_files() -> Iterator[Tensor]:
    """20,493 tensors in 98,245,528,576 bytes."""
    hidden = 2304
    yield "lm_head.weight", "BF16", (163840, hidden)
    yield "model.embed_tokens.weight", "BF16", (163840, hidden)
    yield "model.norm.weight", "BF16", (hidden,)
    for layer in range(27):
        of = f"model.layers.{layer}"
        yield f"{of}.input_layernorm.weight", "BF16", (hidden,)
        yield f"{of}.post_attention_layernorm.weight", "BF16", (hidden,)
        yield f"{of}.self_attn.o_proj.weight", "BF16", (hidden, 4096)
        if layer in (3, 7, 11, 15, 19, 23, 26):
            yield f"{of}.self_attn.kv_a_layernorm.weight", "BF16", (512,)
            yield f"{of}.self_attn.kv_a_proj_with_mqa.weight", "BF16", (576, hidden)
            yield f"{of}.self_attn.kv_b_proj.weight", "BF16", (8192, 512)
            yield f"{of}.self_attn.q_proj.weight", "BF16", (6144, hidden)
        else:
            yield f"{of}.self_attn.A_log", "F32", (1, 1, 32, 1)
            yield f"{of}.self_attn.dt_bias", "F32", (4096,)
            yield f"{of}.self_attn.b_proj.weight", "BF16", (32, hidden)
            yield f"{of}.self_attn.o_norm.weight", "BF16", (128,)
            for name in "qkv":
                yield f"{of}.self_attn.{name}_proj.weight", "BF16", (4096, hidden)
                yield f"{of}.self_attn.{name}_conv1d.weight", "BF16", (4096, 1, 4)
            for name in "fg":
                yield f"{of}.self_attn.{name}_a_proj.weight", "BF16", (128, hidden)
                yield f"{of}.self_attn.{name}_b_proj.weight", "BF16", (4096, 128)
        if layer == 0:
            yield from _mlp(f"{of}.mlp", hidden, 9216)
            continue
        moe = f"{of}.block_sparse_moe"
        yield f"{moe}.gate.weight", "BF16", (256, hidden)
        yield f"{moe}.gate.e_score_correction_bias", "BF16", (256,)
        yield from _mlp(f"{moe}.shared_experts", hidden, 1024)
        for expert in range(256):
            yield f"{moe}.experts.{expert}.w1.weight", "BF16", (1024, hidden)
            yield f"{moe}.experts.{expert}.w2.weight", "BF16", (hidden, 1024)
            yield f"{moe}.experts.{expert}.w3.weight", "BF16", (1024, hidden)


def k3_files(
    layers: int = 93, hidden: int = 7168, experts: int = 896, inner: int = 3072, latent: int = 3584, dense: int = 33792
) -> Iterator[Tensor]:
    """497,220 tensors in 1,560,860,324,864 bytes; fewer layers and experts for a checkpoint that is written."""
    of_all = "language_model."
    for name in ("lm_head.weight", "model.embed_tokens.weight"):
        yield of_all + name, "BF16", (163840, hidden)
    yield f"{of_all}model.norm.weight", "BF16", (hidden,)
    yield f"{of_all}model.output_attn_res_norm.weight", "BF16", (hidden,)
    yield f"{of_all}model.output_attn_res_proj.weight", "BF16", (1, hidden)
    for layer in range(layers):
        of = f"{of_all}model.layers.{layer}"
        for name in ("input_layernorm", "post_attention_layernorm", "self_attention_res_norm", "mlp_res_norm"):
            yield f"{of}.{name}.weight", "BF16", (hidden,)
        for name in ("self_attention_res_proj", "mlp_res_proj"):
            yield f"{of}.{name}.weight", "BF16", (1, hidden)
        yield f"{of}.self_attn.g_proj.weight", "BF16", (12288, hidden)
        yield f"{of}.self_attn.o_proj.weight", "BF16", (hidden, 12288)
        if layer % 4 == 3 or layer == layers - 1:
            yield f"{of}.self_attn.q_a_proj.weight", "BF16", (1536, hidden)
            yield f"{of}.self_attn.q_a_layernorm.weight", "BF16", (1536,)
            yield f"{of}.self_attn.q_b_proj.weight", "BF16", (18432, 1536)
            yield f"{of}.self_attn.kv_a_proj_with_mqa.weight", "BF16", (576, hidden)
            yield f"{of}.self_attn.kv_a_layernorm.weight", "BF16", (512,)
            yield f"{of}.self_attn.kv_b_proj.weight", "BF16", (24576, 512)
        else:
            for name in "qkv":
                yield f"{of}.self_attn.{name}_proj.weight", "BF16", (12288, hidden)
                yield f"{of}.self_attn.{name}_conv1d.weight", "F32", (12288, 1, 4)
            yield f"{of}.self_attn.f_a_proj.weight", "BF16", (128, hidden)
            yield f"{of}.self_attn.f_b_proj.weight", "BF16", (12288, 128)
            yield f"{of}.self_attn.b_proj.weight", "BF16", (96, hidden)
            yield f"{of}.self_attn.A_log", "F32", (128,)
            yield f"{of}.self_attn.dt_bias", "F32", (12288,)
            yield f"{of}.self_attn.o_norm.weight", "F32", (128,)
        if layer == 0:
            yield from _mlp(f"{of}.mlp", hidden, dense)
            continue
        moe = f"{of}.block_sparse_moe"
        yield f"{moe}.gate.weight", "BF16", (experts, hidden)
        yield f"{moe}.gate.e_score_correction_bias", "F32", (experts,)
        yield from _mlp(f"{moe}.shared_experts", hidden, 2 * inner)
        yield f"{moe}.routed_expert_down_proj.weight", "BF16", (latent, hidden)
        yield f"{moe}.routed_expert_norm.weight", "BF16", (latent,)
        yield f"{moe}.routed_expert_up_proj.weight", "BF16", (hidden, latent)
        for expert in range(experts):
            for name, (rows, columns) in {"w1": (inner, latent), "w2": (latent, inner), "w3": (inner, latent)}.items():
                yield f"{moe}.experts.{expert}.{name}.weight_packed", "U8", (rows, columns // 2)
                yield f"{moe}.experts.{expert}.{name}.weight_scale", "U8", (rows, columns // 32)


def k3_vision() -> Iterator[Tensor]:
    """165 and 3 tensors in the last two files; 401,214,464 and 46,144,512 parameters."""
    for block in range(27):
        of = f"vision_tower.encoder.blocks.{block}"
        yield f"{of}.wqkv.weight", "BF16", (4608, 1024)
        yield f"{of}.wo.weight", "BF16", (1024, 1536)
        yield f"{of}.mlp.fc0.weight", "BF16", (4096, 1024)
        yield f"{of}.mlp.fc1.weight", "BF16", (1024, 4096)
        yield f"{of}.norm0.weight", "BF16", (1024,)
        yield f"{of}.norm1.weight", "BF16", (1024,)
    yield "vision_tower.patch_embed.proj.weight", "BF16", (1024, 3, 14, 14)
    yield "vision_tower.patch_embed.pos_emb.weight", "BF16", (64, 64, 1024)
    yield "vision_tower.encoder.final_layernorm.weight", "BF16", (1024,)
    yield "mm_projector.linear_1.weight", "BF16", (4096, 4096)
    yield "mm_projector.linear_2.weight", "BF16", (7168, 4096)
    yield "mm_projector.norm.weight", "BF16", (7168,)


def _mlp(name: str, hidden: int, inner: int) -> Iterator[Tensor]:
    yield f"{name}.gate_proj.weight", "BF16", (inner, hidden)
    yield f"{name}.up_proj.weight", "BF16", (inner, hidden)
    yield f"{name}.down_proj.weight", "BF16", (hidden, inner)


@pytest.mark.parametrize(
    ("name", "tensors", "size_bytes", "parameters"),
    [
        ("moonshotai/Kimi-Linear-48B-A3B-Instruct", 20_493, 98_245_528_576, 49_122_681_728),
        ("moonshotai/Kimi-K3", 497_220, 1_560_860_324_864, 2_779_931_837_184),
    ],
)
def test_the_totals_of_the_published_indexes(name: str, tensors: int, size_bytes: int, parameters: int) -> None:
    """`total_size` of each index, its number of keys, and the parameters that the model page counts."""
    files = [*linear_files()] if "Linear" in name else [*k3_files(), *k3_vision()]
    assert len(files) == tensors
    assert sum(prod(shape) * BYTES[dtype] for _, dtype, shape in files) == size_bytes
    model = find_model(name)
    assert model is not None
    checkpoint = catalog_checkpoint(model)
    assert (checkpoint.tensors, checkpoint.total_bytes, checkpoint.parameters) == (tensors, size_bytes, parameters)


def test_k3_by_type_as_its_model_page_counts() -> None:
    counts = dict.fromkeys(BYTES, 0)
    for name, dtype, shape in (*k3_files(), *k3_vision()):
        counts[dtype] += 0 if name.endswith("_scale") else prod(shape) * (2 if dtype == "U8" else 1)
    assert counts == {"U8": 2_722_740_830_208, "BF16": 57_179_884_544, "F32": 11_122_432}


@pytest.mark.parametrize("files", [linear_files, k3_files])
def test_each_component_of_each_layer(files: Any) -> None:
    """By the names alone: what the catalogue calculates for a component of a layer is what lies in the files."""
    model = find_model("kimi-linear" if files is linear_files else "k3")
    assert model is not None
    expected: dict[tuple[Component, int | None], list[int]] = {}
    for name, dtype, shape in files():
        component, layer, _ = place_of(name)
        if name.endswith("q_proj.weight") and f"layers.{layer}." in name and shape[0] != 6144:
            component = Component.KDA
        count = expected.setdefault((component, layer), [0, 0])
        count[0] += prod(shape) * BYTES[dtype]
        count[1] += 1
    actual: dict[tuple[Component, int | None], list[int]] = {}
    for group in catalog_checkpoint(model).groups:
        if group.component is not Component.VISION:
            count = actual.setdefault((group.component, group.layer), [0, 0])
            count[0] += group.size_bytes
            count[1] += group.tensors
    assert actual == expected


def test_what_checkpoint_show_says_of_the_states() -> None:
    """69 × (96 × 128 × 128 × 4 + 3 × 3 × 96 × 128 × 2), as SGLang's calculator has it; 20 layers of a third of it."""
    for name, size_bytes in (("k3", 449_372_160), ("kimi-linear", 20 * (32 * 65_536 + 9 * 32 * 256))):
        model = find_model(name)
        assert model is not None
        assert model.architecture is not None
        assert state_bytes_per_sequence(model.architecture) == size_bytes


def test_config_json_gives_the_rows_of_the_catalogue() -> None:
    linear, k3 = find_model("kimi-linear"), find_model("k3")
    assert linear is not None
    assert k3 is not None
    assert read_architecture(LINEAR) == linear.architecture
    architecture = read_architecture(K3)
    assert architecture == k3.architecture
    quantized = read_quantization(K3, architecture)
    assert quantized.uneven == ()
    assert quantized.quantization == k3.quantization
    groups = tensor_groups(architecture, quantized.quantization)
    assert sum(group.size_bytes for group in groups) == 1_560_860_324_864


def test_the_headers_of_a_small_k3(tmp_path: Path, write: Writer) -> None:
    """Two layers of KDA and two of MLA with two experts, in files whose headers are read."""
    config = deepcopy(K3)
    text = config["text_config"]
    text |= {
        "num_hidden_layers": 5,
        "hidden_size": 64,
        "num_experts": 2,
        "num_experts_per_token": 1,
        "vocab_size": 163840,
    }
    text |= {"moe_intermediate_size": 64, "routed_expert_hidden_size": 32, "intermediate_size": 128}
    text["linear_attn_config"] |= {"full_attn_layers": [4, 5], "kda_layers": [1, 2, 3]}
    del config["vision_config"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    files = {name: (dtype, shape) for name, dtype, shape in k3_files(5, 64, 2, 64, 32, 128)}
    size_bytes = write.shard(tmp_path / "model.safetensors", files)
    checkpoint = read_checkpoint(tmp_path)
    assert (checkpoint.total_bytes, checkpoint.tensors) == (size_bytes, len(files))
    assert compare(checkpoint, calculated_groups(checkpoint)) == ()
    files["language_model.model.layers.3.self_attn.kv_b_proj.weight"] = ("BF16", (24576, 256))
    write.shard(tmp_path / "model.safetensors", files)
    checkpoint = read_checkpoint(tmp_path)
    assert [finding.message[:15] for finding in compare(checkpoint, calculated_groups(checkpoint))] == [
        "the files' kv_b"
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"linear_attn_config": None}, "no linear_attn_config"),
        ({"linear_attn_config": []}, "no linear_attn_config"),
        ({"full_attn_layers": None}, "without lists"),
        ({"full_attn_layers": "4"}, "without lists"),
        ({"full_attn_layers": [True, 8, 12, 16, 20, 24, 27]}, "without lists"),
        ({"full_attn_layers": [4, 8, 12, 16, 20, 24]}, "each of the 27 layers once"),
        ({"full_attn_layers": [1, 8, 12, 16, 20, 24, 27]}, "each of the 27 layers once"),
        ({"full_attn_layers": [4, 4, 8, 12, 16, 20, 24, 27]}, "each of the 27 layers once"),
        ({"full_attn_layers": [], "kda_layers": [*range(1, 28)]}, "each of the 27 layers once"),
        ({"full_attn_layers": [*range(1, 28)], "kda_layers": []}, "each of the 27 layers once"),
        ({"full_attn_layers": [4, 8, 12, 16, 20, 24, 10**30]}, "each of the 27 layers once"),
        ({"num_heads": 0}, "num_heads 0"),
        ({"num_heads": 2.5}, "not a plausible integer"),
        ({"head_dim": 1 << 40}, "head_dim"),
        ({"short_conv_kernel_size": -1}, "short_conv_kernel_size"),
        ({"use_full_rank_gate": "yes"}, "not true or false"),
        ({"mla_use_output_gate": 1}, "not true or false"),
        ({"routed_expert_hidden_size": -3584}, "routed_expert_hidden_size"),
        ({"num_experts": None}, "num_experts"),
        ({"model_max_length": None}, "model_max_length"),
        ({"kv_lora_rank": None}, "no kv_lora_rank"),
    ],
)
def test_what_cannot_be(changes: dict[str, Any], message: str) -> None:
    config = deepcopy(LINEAR)
    for key, value in changes.items():
        inside = key in config["linear_attn_config"] or key == "use_full_rank_gate"
        (config["linear_attn_config"] if inside else config)[key] = value
    with pytest.raises(CheckpointError, match=message):
        read_architecture(config)
