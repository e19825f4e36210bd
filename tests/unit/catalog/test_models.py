"""The models against arithmetic by hand, against published figures, and by the names that people use."""

from __future__ import annotations

import json
import struct
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.embedded import embedded_checkpoint
from moonpad.catalog.model_row import architectures, quantizations
from moonpad.catalog.models import find_model, models
from moonpad.values.checkpoint import BF16, Component
from tests.unit.catalog import arithmetic as by_hand
from tests.unit.catalog.arithmetic import ATTENTION, MATRICES, Matrix, checkpoint

ALL = tuple(MATRICES)
EXPERTS_ALONE = ("routed_experts",)
MLP = ("routed_experts", "shared_experts", "dense_mlp")


def in_format(names: tuple[str, ...], matrix: Matrix) -> dict[str, Matrix]:
    return dict.fromkeys(names, matrix)


def test_the_oracle_gives_the_published_counts() -> None:
    """The counts that the hub and the indexes show (public); if these fail, the oracle is wrong."""
    size, tensors = checkpoint(in_format(ALL, by_hand.fp8_block))
    assert (size, tensors) == (1_029_173_263_552, 139_644)
    assert checkpoint(in_format(EXPERTS_ALONE, by_hand.int4(32))) == (594_205_918_560, 208_276)
    assert by_hand.VISION_BYTES == 942_287_840


@pytest.mark.parametrize(
    ("name", "formats", "vision"),
    [
        ("moonshotai/Kimi-K2-Base", in_format(ALL, by_hand.fp8_block), False),
        ("moonshotai/Kimi-K2-Instruct", in_format(ALL, by_hand.fp8_block), False),
        ("moonshotai/Kimi-K2-Instruct-0905", in_format(ALL, by_hand.fp8_block), False),
        ("moonshotai/Kimi-K2-Thinking", in_format(EXPERTS_ALONE, by_hand.int4(32)), False),
        ("moonshotai/Kimi-K2.5", in_format(EXPERTS_ALONE, by_hand.int4(32)), True),
        ("moonshotai/Kimi-K2.6", in_format(EXPERTS_ALONE, by_hand.int4(32)), True),
        ("moonshotai/Kimi-K2.7-Code", in_format(EXPERTS_ALONE, by_hand.int4(32)), True),
        ("nvidia/Kimi-K2.5-NVFP4", in_format(MLP, by_hand.nvfp4), True),
        ("nvidia/Kimi-K2.6-NVFP4", in_format(EXPERTS_ALONE, by_hand.nvfp4), True),
        ("nvidia/Kimi-K2.7-Code-NVFP4", in_format(EXPERTS_ALONE, by_hand.nvfp4), True),
        ("amd/Kimi-K2-Thinking-MXFP4", in_format(EXPERTS_ALONE, by_hand.mxfp4), False),
        (
            "amd/Kimi-K2-Thinking-MXFP4-AttnFP8",
            in_format(EXPERTS_ALONE, by_hand.mxfp4) | in_format(ATTENTION, by_hand.fp8_tensor),
            False,
        ),
        (
            "amd/Kimi-K2.5-MXFP4-AttnFP8",
            in_format(EXPERTS_ALONE, by_hand.mxfp4) | in_format(ATTENTION, by_hand.fp8_tensor),
            True,
        ),
        ("RedHatAI/Kimi-K2-Instruct-quantized.w4a16", in_format(EXPERTS_ALONE, by_hand.int4(128)), False),
    ],
)
def test_sizes_by_hand(name: str, formats: dict[str, Matrix], vision: bool) -> None:
    size, tensors = checkpoint(formats, vision=vision)
    model = models()[name]
    assert model.total_bytes == size
    assert model.exact
    assert model.tensors in (tensors, None)


def test_ranges_by_hand() -> None:
    """Where a layout was not seen, both ends are sizes of a layout that may be."""
    wide, narrow = in_format(MLP, by_hand.nvfp4), in_format(EXPERTS_ALONE, by_hand.nvfp4)
    thinking = models()["nvidia/Kimi-K2-Thinking-NVFP4"]
    assert (thinking.total_low_bytes, thinking.total_high_bytes) == (checkpoint(wide)[0], checkpoint(narrow)[0])

    mxfp4 = in_format(EXPERTS_ALONE, by_hand.mxfp4)
    low = checkpoint(mxfp4 | in_format(ATTENTION, by_hand.fp8_tensor), vision=True)[0]
    for name in ("amd/Kimi-K2.5-MXFP4", "amd/Kimi-K2.6-MXFP4", "amd/Kimi-K2.7-Code-MXFP4"):
        assert (models()[name].total_low_bytes, models()[name].total_high_bytes) == (
            low,
            checkpoint(mxfp4, vision=True)[0],
        )

    w8a8 = models()["vllm-ascend/Kimi-K2-Instruct-W8A8"]
    assert w8a8.total_low_bytes == checkpoint(in_format(ALL, by_hand.int8_channel))[0]
    assert w8a8.total_high_bytes == checkpoint(in_format(MLP, by_hand.int8_channel))[0]
    most = tuple(name for name in ALL if name != "kv_b")
    assert w8a8.total_bytes == checkpoint(in_format(most, by_hand.int8_channel))[0]

    def int4_channel(rows: int, columns: int) -> tuple[int, int]:
        return rows * columns // 2 + 8 * rows, 3

    rest = tuple(name for name in ALL if name != "routed_experts")
    narrowest = in_format(EXPERTS_ALONE, int4_channel) | in_format(rest, by_hand.int8_channel)
    for name in ("Eco-Tech/Kimi-K2.5-W4A8", "Eco-Tech/Kimi-K2.6-W4A8", "Eco-Tech/Kimi-K2.7-Code-w4a8"):
        assert models()[name].total_low_bytes == checkpoint(narrowest, vision=True)[0]
        assert models()[name].total_high_bytes == checkpoint(in_format(EXPERTS_ALONE, by_hand.int4(32)), vision=True)[0]


@pytest.mark.parametrize(
    ("name", "published_bytes", "digit_bytes"),
    [
        ("moonshotai/Kimi-K2-Thinking", 594e9, 1e9),  # a public guide's `du`
        ("moonshotai/Kimi-K2.5", 595e9, 1e9),  # the vLLM recipe
        ("amd/Kimi-K2.5-MXFP4-AttnFP8", 557e9, 1e9),  # the vLLM recipe
        (
            "RedHatAI/Kimi-K2-Instruct-quantized.w4a16",
            510 * 2**30,
            1 * 2**30,
        ),  # a public note, `~510 GB`, by its size GiB
        ("ubergarm/Kimi-K2-Thinking-GGUF:Q4_X", 543.617 * 2**30, 0.001 * 2**30),
        ("ubergarm/Kimi-K2-Instruct-GGUF:smol-IQ1_KT", 219.375 * 2**30, 0.001 * 2**30),
        ("unsloth/Kimi-K2-Instruct-GGUF:UD-Q2_K_XL", 381e9, 1e9),
    ],
)
def test_sizes_as_published(name: str, published_bytes: float, digit_bytes: float) -> None:
    model = models()[name]
    assert model.total_bytes is not None
    assert abs(model.total_bytes - published_bytes) <= digit_bytes


def test_bits_a_weight_of_the_ggufs() -> None:
    """Two model pages print bits a weight beside the size: of the same 1.026 T weights."""
    for name, bits in (("ubergarm/Kimi-K2-Thinking-GGUF:Q4_X", 4.549), ("ubergarm/Kimi-K2-Instruct-GGUF", 1.835)):
        model = find_model(name)
        assert model is not None
        assert model.total_bytes is not None
        assert model.total_bytes * 8 / 1.026408e12 == pytest.approx(bits, abs=0.001)


K2_INSTRUCT = {
    "first_k_dense_replace": "dense_layers",
    "hidden_size": "hidden",
    "intermediate_size": "intermediate",
    "kv_lora_rank": "kv_lora_rank",
    "max_position_embeddings": "max_context",
    "model_type": "model_type",
    "moe_intermediate_size": "moe_intermediate",
    "n_routed_experts": "routed_experts",
    "n_shared_experts": "shared_experts",
    "num_attention_heads": "heads",
    "num_experts_per_tok": "experts_per_token",
    "num_hidden_layers": "layers",
    "num_nextn_predict_layers": "nextn_layers",
    "q_lora_rank": "q_lora_rank",
    "qk_nope_head_dim": "qk_nope_head_dim",
    "qk_rope_head_dim": "qk_rope_head_dim",
    "scoring_func": "scoring",
    "tie_word_embeddings": "tied_embeddings",
    "topk_method": "topk_method",
    "v_head_dim": "v_head_dim",
    "vocab_size": "vocabulary",
}
"""Key of config.json → field of Architecture."""


def test_k2_is_its_published_config() -> None:
    """The figures of moonshotai/Kimi-K2-Instruct/config.json."""
    published = {
        "first_k_dense_replace": 1,
        "hidden_size": 7168,
        "intermediate_size": 18432,
        "kv_lora_rank": 512,
        "max_position_embeddings": 131072,
        "model_type": "kimi_k2",
        "moe_intermediate_size": 2048,
        "n_routed_experts": 384,
        "n_shared_experts": 1,
        "num_attention_heads": 64,
        "num_experts_per_tok": 8,
        "num_hidden_layers": 61,
        "num_nextn_predict_layers": 0,
        "q_lora_rank": 1536,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "scoring_func": "sigmoid",
        "tie_word_embeddings": False,
        "topk_method": "noaux_tc",
        "v_head_dim": 128,
        "vocab_size": 163840,
    }
    known = architectures()["k2"].value
    assert {key: getattr(known, field) for key, field in K2_INSTRUCT.items()} == published
    for name, differs in (
        ("k2-256k", {"max_position_embeddings": 262144}),
        ("k2-vision", {"max_position_embeddings": 262144, "model_type": "kimi_k25"}),
    ):
        known = architectures()[name].value
        assert {key: getattr(known, field) for key, field in K2_INSTRUCT.items()} == published | differs


@pytest.mark.parametrize(
    ("scheme", "component", "matrix"),
    [
        *(("fp8", name, by_hand.fp8_block) for name in ALL),
        ("int4", "routed_experts", by_hand.int4(32)),
        ("int4", "shared_experts", by_hand.bf16),
        ("w4a16", "routed_experts", by_hand.int4(128)),
        ("nvfp4-experts", "routed_experts", by_hand.nvfp4),
        ("nvfp4-experts", "shared_experts", by_hand.bf16),
        *(("nvfp4-mlp", name, by_hand.nvfp4) for name in MLP),
        ("nvfp4-mlp", "o_proj", by_hand.bf16),
        ("mxfp4", "routed_experts", by_hand.mxfp4),
        ("mxfp4", "q_b", by_hand.bf16),
        *(("mxfp4-attn-fp8", name, by_hand.fp8_tensor) for name in ATTENTION),
        ("ascend-w8a8", "routed_experts", by_hand.int8_channel),
        ("ascend-w8a8", "kv_b", by_hand.bf16),
    ],
)
def test_formats_by_hand(scheme: str, component: str, matrix: Matrix) -> None:
    """A format as `TensorFormat` describes it, on each shape of the model."""
    form = quantizations()[scheme].value.format_of(Component(component))
    for rows, columns in MATRICES[component][0]:
        size = rows * columns * form.bits // 8 + form.extra_bytes
        if form.block is not None:
            size += form.scale_bytes * ceil(rows / form.block[0]) * ceil(columns / form.block[1])
        assert (size, 1 + form.extra_tensors) == matrix(rows, columns)


def embedded(name: str) -> Path:
    folder = embedded_checkpoint("kimi-k2-tiny")
    assert folder is not None
    return folder / name


def test_the_tiny_model_is_its_config() -> None:
    config = json.loads(embedded("config.json").read_text())
    architecture = models()["kimi-k2-tiny"].architecture
    assert {key: getattr(architecture, field) for key, field in K2_INSTRUCT.items()} == {
        key: config[key] for key in K2_INSTRUCT
    }


def test_the_tiny_model_is_its_header() -> None:
    with embedded("model.safetensors").open("rb") as file:
        header: dict[str, Any] = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    header.pop("__metadata__")
    model = models()["kimi-k2-tiny"]
    assert model.total_bytes == sum(
        end - start for start, end in (tensor["data_offsets"] for tensor in header.values())
    )
    assert model.tensors == len(header)
    assert not model.rotary_in_files
    assert not any("rotary" in name for name in header)


def test_contexts() -> None:
    short = {"moonshotai/Kimi-K2-Base", "moonshotai/Kimi-K2-Instruct"}
    for model in models().values():
        if model.id.startswith("moonshotai/Kimi-K2"):
            assert model.architecture is not None
            assert model.architecture.max_context == (131072 if model.id in short else 262144)


def test_what_the_vision_tower_takes() -> None:
    assert architectures()["k2-vision"].value.vision_parameters * 2 == by_hand.VISION_BYTES
    assert architectures()["k2"].value.vision_parameters == 0


def test_plannable_models_have_what_planning_needs() -> None:
    for model in models().values():
        if model.refused:
            assert model.refused.endswith(".")
            assert len(model.refused) > 60
        else:
            assert model.architecture is not None
            assert model.quantization is not None
            assert model.total_bytes is not None
            assert model.formats_known == (model.quantization.scheme != "gguf")


@pytest.mark.parametrize(
    ("name", "size_bytes", "tensors"),
    [
        ("moonshotai/Kimi-K3", 1_560_860_324_864, 497_220),
        ("K3", 1_560_860_324_864, 497_220),
        ("Kimi-Linear-48B-A3B-Instruct", 98_245_528_576, 20_493),
        ("kimi-linear", 98_245_528_576, 20_493),
    ],
)
def test_linear_attention_by_the_published_indexes(name: str, size_bytes: int, tensors: int) -> None:
    """`metadata.total_size` and the number of keys of each model.safetensors.index.json."""
    model = find_model(name)
    assert model is not None
    assert (model.refused, model.total_bytes, model.tensors) == ("", size_bytes, tensors)
    assert model.license in ("MIT", "Kimi K3 License")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("moonshotai/Kimi-K2-Thinking", "moonshotai/Kimi-K2-Thinking"),
        ("MOONSHOTAI/kimi-k2-thinking", "moonshotai/Kimi-K2-Thinking"),
        ("Kimi-K2-Thinking", "moonshotai/Kimi-K2-Thinking"),
        (" k2-thinking ", "moonshotai/Kimi-K2-Thinking"),
        ("/home/ubuntu/models/Kimi-K2-Thinking/", "moonshotai/Kimi-K2-Thinking"),
        ("C:\\models\\Kimi-K2.5", "moonshotai/Kimi-K2.5"),
        ("/hub/models--moonshotai--Kimi-K2-Thinking/snapshots/357b94a", "moonshotai/Kimi-K2-Thinking"),
        ("kimi-k2-tiny", "kimi-k2-tiny"),
        ("/models/nvidia/Kimi-K2.5-NVFP4", "nvidia/Kimi-K2.5-NVFP4"),
        ("ubergarm/Kimi-K2-Thinking-GGUF", "ubergarm/Kimi-K2-Thinking-GGUF:Q4_X"),
        ("/models/ubergarm/Kimi-K2-Instruct-GGUF", "ubergarm/Kimi-K2-Instruct-GGUF:smol-IQ1_KT"),
        ("unsloth/Kimi-K2-Instruct-GGUF:ud-q2_k_xl", "unsloth/Kimi-K2-Instruct-GGUF:UD-Q2_K_XL"),
    ],
)
def test_names_that_people_use(name: str, meant: str) -> None:
    model = find_model(name)
    assert model is not None
    assert model.id == meant


CACHED = "/srv/hub/models--unsloth--Kimi-K2-Instruct-0905-GGUF/snapshots/0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("UD-Q4_K_XL/Kimi-K2-Instruct-0905-UD-Q4_K_XL-00001-of-00013.gguf", "UD-Q4_K_XL"),
        ("Kimi-K2-Instruct-0905-UD-Q3_K_XL-00001-of-00010.gguf", "UD-Q3_K_XL"),
        ("UD-Q2_K_XL/Kimi-K2-Instruct-0905-UD-Q2_K_XL-00001-of-00009.gguf", "UD-Q2_K_XL"),
    ],
)
def test_a_gguf_file_in_a_cache_is_the_one_that_its_name_says(file: str, kind: str) -> None:
    model = find_model(f"{CACHED}/{file}")
    assert model is not None
    assert model.id.endswith(f"Kimi-K2-Instruct-0905-GGUF:{kind}")
    assert not model.refused


def test_a_cache_of_several_and_no_file_that_says_which() -> None:
    for path in (CACHED, f"{CACHED}/first.gguf"):
        model = find_model(path)
        assert model is not None
        assert model.refused


@pytest.mark.parametrize("name", ["", "/", "Kimi", "Qwen/Qwen3-8B", "$MODEL_PATH", "Kimi-K2-Instruct-GGUF", "a" * 5000])
def test_names_that_mean_nothing(name: str) -> None:
    """`Kimi-K2-Instruct-GGUF` is the last part of three repositories, so alone it means none of them."""
    assert find_model(name) is None


def test_a_repository_of_several_quantisations_names_them() -> None:
    model = find_model("unsloth/Kimi-K2-Instruct-GGUF")
    assert model is not None
    for quantisation in ("UD-TQ1_0", "UD-Q2_K_XL", "Q8_0"):
        assert f"unsloth/Kimi-K2-Instruct-GGUF:{quantisation}" in model.refused


def test_only_what_is_named_is_quantised() -> None:
    int4 = quantizations()["int4"].value
    assert int4.format_of(Component.ROUTED_EXPERTS).block == (1, 32)
    assert all(
        int4.format_of(component) == BF16 for component in Component if component is not Component.ROUTED_EXPERTS
    )
    fp8 = quantizations()["fp8"].value
    for component in (Component.ROUTER, Component.NORMS, Component.EMBED_TOKENS, Component.LM_HEAD):
        assert fp8.format_of(component) == BF16
