"""Exact counts. The constants are those of model pages and of indexes in the repositories, or worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.catalog.models import find_model, models
from moonpad.plan.tensors import catalog_checkpoint, matrix_bytes, tensor_groups
from moonpad.values.checkpoint import (
    Architecture,
    Component,
    Quantization,
    Sharding,
    TensorFormat,
    TensorGroup,
)
from moonpad.values.errors import PreflightRefused
from moonpad.values.records import replace
from tests.unit.plan.known import FP8, INT4, K2, K2_VISION, PLAIN, TINY, bytes_by_component


def total(groups: tuple[TensorGroup, ...]) -> tuple[int, int, int]:
    """Bytes, tensors, parameters."""
    return (
        sum(group.size_bytes for group in groups),
        sum(group.tensors for group in groups),
        sum(group.parameters for group in groups),
    )


def test_the_fp8_checkpoint_to_the_byte() -> None:
    assert total(tensor_groups(K2, FP8, rotary_in_files=True)) == (1_029_173_263_552, 139_644, 1_026_408_235_864)


def test_the_int4_checkpoint_to_the_byte() -> None:
    assert total(tensor_groups(K2, INT4, rotary_in_files=True)) == (594_205_918_560, 208_276, 1_026_408_235_864)


def test_the_vision_tower_of_k2_5() -> None:
    size, _, _ = total(tensor_groups(K2_VISION, INT4, rotary_in_files=True))
    assert size == 595_148_206_400
    assert size - 594_205_918_560 == 942_287_840


def test_the_rotary_tables_are_what_is_missing_otherwise() -> None:
    """One of 56 FP32 values in each of 61 layers: 13,664 bytes."""
    with_tables, without = (total(tensor_groups(K2, FP8, rotary_in_files=there)) for there in (True, False))
    assert tuple(a - b for a, b in zip(with_tables, without, strict=True)) == (13_664, 61, 3_416)
    rotary = [group for group in tensor_groups(K2, FP8, rotary_in_files=True) if group.component is Component.ROTARY]
    assert {group.sharding for group in rotary} == {Sharding.NOT_LOADED}


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        # As the hub counts them, and by a public count of the files (32,815,315,552 bytes).
        ("moonshotai/Moonlight-16B-A3B-Instruct", 15_960_111_936),
        ("moonshotai/Kimi-VL-A3B-Instruct", 16_407_657_776),
    ],
)
def test_small_ones_are_bf16_throughout(name: str, parameters: int) -> None:
    model = models()[name]
    assert model.architecture is not None
    assert model.quantization is not None
    size, _, counted = total(tensor_groups(model.architecture, model.quantization, rotary_in_files=True))
    assert (counted, size) == (parameters, 2 * parameters)


@pytest.mark.parametrize(
    ("component", "parameters"),
    [
        (Component.ROUTED_EXPERTS, 1_014_686_023_680),
        (Component.O_PROJ, 3_581_935_616),
        (Component.SHARED_EXPERTS, 2_642_411_520),
        (Component.EMBED_TOKENS, 1_174_405_120),
        (Component.LM_HEAD, 1_174_405_120),
        (Component.Q_B, 1_151_336_448),
        (Component.Q_A, 671_612_928),
        (Component.KV_B, 511_705_088),
        (Component.KV_A, 251_854_848),
        (Component.DENSE_MLP, 396_361_728),
        (Component.ROUTER, 165_173_760),
        (Component.NORMS, 1_006_592),
    ],
)
def test_the_parameters_of_each_component(component: Component, parameters: int) -> None:
    groups = tensor_groups(K2, INT4)
    assert sum(group.parameters for group in groups if group.component is component) == parameters


def test_bytes_of_the_components_in_gb() -> None:
    """Two digits, as written down from the published files."""
    int4 = bytes_by_component(tensor_groups(K2, INT4))
    fp8 = bytes_by_component(tensor_groups(K2, FP8))
    assert round(int4[Component.ROUTED_EXPERTS] / 1e9, 2) == round(507.343 + 63.418, 2)
    assert round(fp8[Component.ROUTED_EXPERTS] / 1e9, 2) == round(1014.686 + 0.248, 2)
    assert round(int4[Component.O_PROJ] / 1e9, 2) == 7.16
    assert round(fp8[Component.SHARED_EXPERTS] / 1e9, 2) == 2.64


def test_a_plain_checkpoint_takes_two_bytes_a_parameter() -> None:
    """Its router's bias too: the embedded checkpoint lies so on the disk."""
    size, tensors, parameters = total(tensor_groups(TINY, PLAIN))
    assert (size, tensors) == (18_340_400, 129)
    assert size == 2 * parameters


def test_a_tied_embedding_is_in_the_files_once() -> None:
    untied, tied = (bytes_by_component(tensor_groups(replace(TINY, tied_embeddings=flag), PLAIN)) for flag in (0, 1))
    assert Component.LM_HEAD in untied
    assert Component.LM_HEAD not in tied
    assert tied[Component.EMBED_TOKENS] == 1024 * 256 * 2


def test_without_a_query_latent_the_queries_are_one_matrix() -> None:
    groups = bytes_by_component(tensor_groups(replace(TINY, q_lora_rank=0), PLAIN))
    assert Component.Q_A not in groups
    assert groups[Component.Q_B] == 4 * (4 * 192 * 256) * 2


@pytest.mark.parametrize(
    ("shape", "form", "size"),
    [
        ((256, 512), TensorFormat("bf16", 16), 256 * 512 * 2),
        ((192, 300), TensorFormat("fp8", 8, (128, 128), 4), 192 * 300 + 2 * 3 * 4),
        ((2048, 7168), TensorFormat("int4", 4, (1, 32), 2, 8, 2), 2048 * 7168 // 2 + 2048 * 224 * 2 + 8),
        ((2048, 7168), TensorFormat("nvfp4", 4, (1, 16), 1, 8, 3), 2048 * 7168 // 2 + 2048 * 448 + 8),
        ((3, 3), TensorFormat("int4", 4), 5),
    ],
)
def test_one_matrix(shape: tuple[int, int], form: TensorFormat, size: int) -> None:
    assert matrix_bytes(shape, form) == size


def test_the_groups_are_kept() -> None:
    assert tensor_groups(K2, INT4) is tensor_groups(K2, Quantization("int4", "compressed-tensors", dict(INT4.formats)))


def test_every_model_of_the_catalogue_is_planned_or_refused() -> None:
    for model in models().values():
        if model.refused:
            with pytest.raises(PreflightRefused, match=r"\w") as refused:
                catalog_checkpoint(model)
            assert refused.value.remedy
            continue
        checkpoint = catalog_checkpoint(model)
        assert model.total_bytes is not None
        assert checkpoint.total_bytes == model.total_bytes, model.id
        assert bool(checkpoint.groups) == model.formats_known, model.id
        if model.tensors is not None:
            assert checkpoint.tensors == model.tensors, model.id


def test_the_catalogue_has_the_published_totals() -> None:
    thinking = find_model("moonshotai/Kimi-K2-Thinking")
    assert thinking is not None
    assert total(catalog_checkpoint(thinking).groups) == (594_205_918_560, 208_276, 1_026_408_235_864)


sizes = st.integers(1, 40)


@given(sizes, sizes, st.integers(0, 3), st.booleans())
def test_more_layers_never_take_less(layers: int, more: int, dense: int, quantized: bool) -> None:
    form = INT4 if quantized else PLAIN

    def size(architecture: Architecture) -> int:
        return sum(group.size_bytes for group in tensor_groups(architecture, form))

    few = replace(TINY, layers=layers, dense_layers=min(dense, layers))
    assert size(replace(few, layers=layers + more)) > size(few)
