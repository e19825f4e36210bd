"""Which components are quantised and how. The bytes that follow are held against published and counted totals."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpad.checkpoints.architecture import read_architecture
from moonpad.checkpoints.quantization import Quantized, modelslim_quantization, read_quantization
from moonpad.plan.tensors import tensor_groups
from moonpad.values.checkpoint import Architecture, Component
from moonpad.values.errors import CheckpointError
from tests.unit.checkpoints.test_architecture import INSTRUCT, JSON, config
from tests.unit.plan.known import bytes_by_component

MATRICES = {
    Component.Q_A,
    Component.Q_B,
    Component.KV_A,
    Component.KV_B,
    Component.O_PROJ,
    Component.DENSE_MLP,
    Component.SHARED_EXPERTS,
    Component.ROUTED_EXPERTS,
}
MX_FP4 = {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0", "ch_axis": -1}
QUARK = {
    "quant_method": "quark",
    "global_quant_config": {"weight": MX_FP4, "input_tensors": {**MX_FP4, "is_dynamic": True}, "bias": None},
    "layer_quant_config": {},
    "export": {"pack_method": "reorder", "weight_format": "real_quantized"},
    "exclude": [
        "lm_head",
        "re:.*self_attn.*",
        "re:.*mlp.gate$",
        "re:.*shared_experts.*",
        "re:.*mlp\\.(gate|up|down)_proj",
    ],
}


def quantized(document: dict[str, Any]) -> tuple[Architecture, Quantized]:
    architecture = read_architecture(document)
    return architecture, read_quantization(document, architecture)


def total_bytes(document: dict[str, Any]) -> int:
    architecture, result = quantized(document)
    assert result.uneven == ()
    return sum(group.size_bytes for group in tensor_groups(architecture, result.quantization, rotary_in_files=True))


def instruct(quantization: object, **more: object) -> dict[str, Any]:
    return {**copy.deepcopy(INSTRUCT), "quantization_config": quantization, **more}


def changed(name: str, **values: object) -> dict[str, Any]:
    document = config(name)
    holder = document if "quantization_config" in document else document["text_config"]
    holder["quantization_config"].update(values)
    return document


def test_fp8_with_blocks() -> None:
    """The published count of elements, 1,026,470,731,056, and of bytes."""
    _, result = quantized(INSTRUCT)
    assert (result.quantization.scheme, result.quantization.method) == ("fp8", "fp8")
    assert set(result.quantization.formats) == MATRICES
    assert total_bytes(INSTRUCT) == 1_029_173_263_552


def test_int4_of_the_experts_alone() -> None:
    document = config("moonshotai--Kimi-K2.5")
    _, result = quantized(document)
    assert (result.quantization.scheme, result.quantization.method) == ("int4", "compressed-tensors")
    assert set(result.quantization.formats) == {Component.ROUTED_EXPERTS}
    assert total_bytes(document) == 594_205_918_560 + 942_287_840


def test_plain_weights() -> None:
    for dtype, scheme in (("bfloat16", "bf16"), ("float16", "fp16")):
        document = instruct(None, torch_dtype=dtype)
        _, result = quantized(document)
        assert result.quantization.scheme == scheme
        # Two bytes for each parameter, also of the rotary tables, as Kimi-VL's files have them.
        assert total_bytes(document) == 2 * 1_026_408_235_864


@pytest.mark.parametrize("dtype", ["float32", "float64", 7])
def test_other_types_are_refused(dtype: object) -> None:
    with pytest.raises(CheckpointError, match="torch_dtype"):
        quantized(instruct(None, torch_dtype=dtype))


def test_nvfp4_where_the_ignore_list_leaves_mlp_and_shared_experts_in() -> None:
    document = config("nvidia--Kimi-K2.5-NVFP4")
    _, result = quantized(document)
    assert (result.quantization.scheme, result.quantization.kv_cache) == ("nvfp4", "fp8")
    assert set(result.quantization.formats) == {
        Component.ROUTED_EXPERTS,
        Component.SHARED_EXPERTS,
        Component.DENSE_MLP,
    }
    assert total_bytes(document) == pytest.approx(590.78e9, rel=1e-5)


def test_nvfp4_of_the_experts_alone() -> None:
    document = config("nvidia--Kimi-K2.6-NVFP4")
    _, result = quantized(document)
    assert set(result.quantization.formats) == {Component.ROUTED_EXPERTS}
    assert total_bytes(document) == 595_148_206_400


def test_nvfp4_said_by_hf_quant_config_alone() -> None:
    document = config("nvidia--Kimi-K2.6-NVFP4")
    architecture, expected = quantized(document)
    del document["quantization_config"]
    assert read_quantization(document, architecture, config("nvidia--Kimi-K2.6-NVFP4_hf_quant")) == expected


def test_mxfp4_by_quark() -> None:
    document = instruct(QUARK)
    _, result = quantized(document)
    assert (result.quantization.scheme, result.quantization.method) == ("mxfp4", "quark")
    assert set(result.quantization.formats) == {Component.ROUTED_EXPERTS}
    assert total_bytes(document) == 562_496_427_360


def test_mxfp4_with_attention_in_fp8() -> None:
    fp8 = {"weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}, "input_tensors": None}
    left_out = [pattern for pattern in QUARK["exclude"] if "self_attn" not in pattern]  # type: ignore[attr-defined]
    document = instruct({**QUARK, "exclude": left_out, "layer_quant_config": {"*self_attn*": fp8}})
    _, result = quantized(document)
    assert result.quantization.formats[Component.KV_B].name == "fp8"
    assert result.quantization.formats[Component.ROUTED_EXPERTS].name == "mxfp4"
    # Attention is 6.17e9 parameters: half of its BF16 bytes are saved.
    assert 562_496_427_360 - total_bytes(document) == pytest.approx(6.17e9, rel=0.01)


def test_w4a16_in_larger_groups() -> None:
    """RedHatAI's: routed experts in groups of 128 give 509.1 GiB."""
    document = config("moonshotai--Kimi-K2.5")
    weights = document["text_config"]["quantization_config"]["config_groups"]["group_0"]["weights"]
    weights["group_size"] = 128
    _, result = quantized(document)
    assert result.quantization.scheme == "w4a16"
    assert (total_bytes(document) - 942_287_840) / 2**30 == pytest.approx(509.1, abs=0.05)


def test_targets_of_ascend_mean_the_routed_experts() -> None:
    document = config("moonshotai--Kimi-K2.5")
    group = document["text_config"]["quantization_config"]["config_groups"]["group_0"]
    group["targets"] = ["MoE"]
    document["text_config"]["quantization_config"]["ignore"] = []
    assert set(quantized(document)[1].quantization.formats) == {Component.ROUTED_EXPERTS}


def test_int8_and_fp8_by_channel() -> None:
    for kind, scheme in (("int", "w8a8"), ("float", "fp8")):
        weights = {"num_bits": 8, "type": kind, "strategy": "channel", "symmetric": True}
        inputs = {"num_bits": 8, "type": kind, "dynamic": True, "strategy": "token"}
        groups = {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": inputs}}
        config = {"quant_method": "compressed-tensors", "config_groups": groups, "ignore": ["lm_head"]}
        architecture, result = quantized(instruct(config))
        assert result.quantization.scheme == scheme
        groups_found = bytes_by_component(tensor_groups(architecture, result.quantization))
        # One byte a weight and two for each of the 7168 output features, in 61 layers.
        assert groups_found[Component.O_PROJ] == 3_581_935_616 + 61 * 7168 * 2


def test_some_layers_and_not_others_is_said() -> None:
    _, result = quantized({**INSTRUCT, "quantization_config": {**INSTRUCT["quantization_config"]}})
    assert result.uneven == ()
    left_out = ["model.layers.3.self_attn.o_proj", "model.layers.4.self_attn.o_proj"]
    config = {**INSTRUCT["quantization_config"], "modules_to_not_convert": left_out}
    _, result = quantized(instruct(config))
    assert result.uneven == (Component.O_PROJ,)
    assert result.quantization.formats[Component.O_PROJ].name == "fp8"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (instruct({"bits": 4}), "without quant_method"),
        (instruct([]), "without quant_method"),
        (instruct({"quant_method": "awq", "bits": 4}), "'awq'; only fp8, compressed-tensors, modelopt, quark"),
        (instruct({"quant_method": "fp8", "weight_block_size": [0, 128]}), "rows 0"),
        (instruct({"quant_method": "fp8", "weight_block_size": 128}), "weight_block_size 128"),
        (changed("moonshotai--Kimi-K2.5", config_groups={}), "config_groups"),
        (changed("moonshotai--Kimi-K2.5", config_groups={"a": {"targets": ["Linear"]}}), "without weights"),
        (changed("nvidia--Kimi-K2.5-NVFP4", quant_algo="W4A8_AWQ"), "only NVFP4 and FP8"),
        (changed("nvidia--Kimi-K2.5-NVFP4", kv_cache_scheme={"num_bits": 4}), "KV cache"),
        (changed("nvidia--Kimi-K2.5-NVFP4", ignore="lm_head"), "is not a list"),
        (changed("nvidia--Kimi-K2.5-NVFP4", ignore=[7]), "something other than a name"),
        (changed("nvidia--Kimi-K2.5-NVFP4", ignore=["re:(a*)*b"]), "does not understand"),
        (instruct({**QUARK, "global_quant_config": None}), "global_quant_config"),
        (instruct({**QUARK, "global_quant_config": {"weight": {"dtype": "int4"}}}), "by quark"),
    ],
)
def test_what_is_refused(document: dict[str, Any], message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        quantized(document)


def test_modelslim_goes_by_the_tensors_that_it_names() -> None:
    architecture = read_architecture(instruct(None))
    description = {"model_quant_type": "W4A8_DYNAMIC", "version": "1.0.0", "model.embed_tokens.weight": "FLOAT"}
    for layer in range(61):
        here = f"model.layers.{layer}"
        description[f"{here}.self_attn.o_proj.weight"] = "W8A8_DYNAMIC"
        description[f"{here}.self_attn.o_proj.weight_scale"] = "W8A8_DYNAMIC"
        description[f"{here}.self_attn.kv_b_proj.weight"] = "FLOAT"
        if layer:
            description[f"{here}.mlp.experts.0.down_proj.weight"] = "W4A8_DYNAMIC"
    result = modelslim_quantization(description, architecture)
    assert (result.quantization.scheme, result.quantization.method, result.uneven) == (
        "w4a8",
        "ascend",
        (),
    )
    assert set(result.quantization.formats) == {Component.O_PROJ, Component.ROUTED_EXPERTS}
    description["model.layers.5.self_attn.o_proj.weight"] = "FLOAT"
    assert modelslim_quantization(description, architecture).uneven == (Component.O_PROJ,)
    for wrong in ({}, {"model.layers.0.self_attn.o_proj.weight": 8}, {"model.layers.0.self_attn.o_proj.weight": "?"}):
        with pytest.raises(CheckpointError):
            modelslim_quantization(wrong, architecture)


METHODS = st.sampled_from(["fp8", "compressed-tensors", "modelopt", "quark"])
SAID = st.sampled_from(
    ("weight_block_size", "config_groups", "ignore", "exclude", "quant_algo", "group_size", "global_quant_config")
)
VALUES = JSON | st.sampled_from(["NVFP4", "FP8", ["Linear"], [128, 128], {"weight": MX_FP4}, 16, 32])


@settings(max_examples=200)
@given(METHODS, st.dictionaries(SAID, VALUES))
def test_any_quantisation_is_read_or_refused(method: str, config: dict[str, Any]) -> None:
    try:
        _, result = quantized(instruct({"quant_method": method, **config}))
    except CheckpointError:
        return
    assert set(result.quantization.formats) <= MATRICES
