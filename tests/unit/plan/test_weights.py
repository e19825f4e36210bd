"""Bytes on a device. The figures in GiB were worked out apart from this code and are published with the project."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.catalog.overhead import Pipeline, defaults_of
from moonpad.plan.tensors import tensor_groups
from moonpad.plan.weights import HostPart, groups_of, routed_bytes, stage_weights, stages_of
from moonpad.values.checkpoint import Architecture, Checkpoint, Component, Quantization
from moonpad.values.plan import Layout
from moonpad.values.records import replace
from moonpad.values.units import GIB
from tests.unit.plan.known import FP8, INT4, K2, K2_VISION, PLAIN, TINY, bytes_by_component


def checkpoint(architecture: Architecture, quantization: Quantization) -> Checkpoint:
    groups = tensor_groups(architecture, quantization, rotary_in_files=True)
    return Checkpoint("test", architecture, quantization, groups, "test", sum(group.size_bytes for group in groups))


def on_devices(
    model: Checkpoint, layout: Layout, *, pipeline: Pipeline = "inner", vision_sliced: bool = True, redundant: int = 0
) -> list[float]:
    stages = stages_of(model.architecture.layers, layout.pp, pipeline)
    held = stage_weights(model, layout, stages, vision_sliced=vision_sliced, redundant_experts=redundant)
    return [sum(weights.values()) for weights in held]


@pytest.mark.parametrize(
    ("quantization", "layout", "gib"),
    [
        (INT4, Layout(tp=8), [71.07]),
        (INT4, Layout(tp=16), [36.55]),
        (INT4, Layout(tp=4), [140.11]),
        (INT4, Layout(dp=8, ep=8), [89.23]),
        (FP8, Layout(tp=8), [120.95]),
        (FP8, Layout(tp=16), [61.06]),
        (FP8, Layout(tp=8, pp=2), [60.51, 60.44]),
        (FP8, Layout(dp=16, ep=16), [73.29]),
    ],
)
def test_gib_on_a_device(quantization: Quantization, layout: Layout, gib: list[float]) -> None:
    assert [size / GIB for size in on_devices(checkpoint(K2, quantization), layout)] == pytest.approx(gib, rel=0.001)


def test_one_device_holds_the_files_and_what_is_unpacked_from_kv_b() -> None:
    """But not the rotary tables, which no engine loads."""
    model = checkpoint(K2, INT4)
    unpacked = 61 * 64 * (128 + 128) * 512 * 2
    assert on_devices(model, Layout()) == [model.total_bytes - 61 * 56 * 4 + unpacked]


def test_experts_are_whole_with_expert_parallelism_and_sliced_without() -> None:
    model = checkpoint(K2, FP8)
    experts = bytes_by_component(model.groups)[Component.ROUTED_EXPERTS]

    def held(layout: Layout, redundant: int = 0) -> int:
        stages = stages_of(61, 1, "inner")
        weights = stage_weights(model, layout, stages, vision_sliced=True, redundant_experts=redundant)
        return weights[0][Component.ROUTED_EXPERTS]

    assert held(Layout(tp=16)) == experts // 16
    assert held(Layout(tp=8, dp=2)) == experts // 16
    assert held(Layout(tp=8, dp=2, ep=16)) == experts // 16
    assert held(Layout(tp=8, dp=2, ep=4)) == experts // 16
    assert held(Layout(dp=10, ep=10)) == pytest.approx(experts * 39 / 384)
    assert held(Layout(dp=96, ep=96), redundant=96) == pytest.approx(experts * 5 / 384)


def test_uneven_ranks_are_rounded_up() -> None:
    model = checkpoint(TINY, PLAIN)
    weights = stage_weights(model, Layout(tp=3), stages_of(4, 1, "inner"), vision_sliced=True)[0]
    assert weights[Component.O_PROJ] == math.ceil(4 * 256 * 512 * 2 / 3)


def test_the_vocabulary_is_padded_to_64_words() -> None:
    model = checkpoint(replace(TINY, vocabulary=1000), PLAIN)
    weights = stage_weights(model, Layout(tp=2), stages_of(4, 1, "inner"), vision_sliced=True)[0]
    assert weights[Component.EMBED_TOKENS] == weights[Component.LM_HEAD] == 1024 * 256 * 2 // 2


def test_embedding_first_head_last() -> None:
    first, last = stage_weights(checkpoint(TINY, PLAIN), Layout(pp=2), stages_of(4, 2, "inner"), vision_sliced=True)
    assert Component.EMBED_TOKENS in first
    assert Component.EMBED_TOKENS not in last
    assert Component.LM_HEAD in last
    assert Component.DENSE_MLP not in last


def test_a_tied_embedding_is_held_at_both_ends() -> None:
    tied = checkpoint(replace(TINY, tied_embeddings=True), PLAIN)
    first, last = stage_weights(tied, Layout(pp=2), stages_of(4, 2, "inner"), vision_sliced=True)
    assert last[Component.LM_HEAD] == first[Component.EMBED_TOKENS]
    (alone,) = stage_weights(tied, Layout(), stages_of(4, 1, "inner"), vision_sliced=True)
    assert Component.LM_HEAD not in alone


def test_the_vision_tower() -> None:
    """Of 471,143,920 parameters 411,279,984 are sliced: 27 × (3·1152·1153 + 1152² + 4304·1153 + 4304·1152)."""
    model, stages = checkpoint(K2_VISION, INT4), stages_of(61, 1, "inner")

    def vision(layout: Layout, sliced: bool) -> int:
        return stage_weights(model, layout, stages, vision_sliced=sliced)[0][Component.VISION]

    assert vision(Layout(tp=8), False) == 942_287_840
    assert vision(Layout(tp=8), True) == pytest.approx(2 * (471_143_920 - 411_279_984) + 2 * 411_279_984 / 8, abs=8)
    assert vision(Layout(tp=32), True) == 942_287_840  # 16 heads do not divide by 32, so each rank has all of it


def test_each_pipeline_stage_has_the_tower() -> None:
    held = stage_weights(checkpoint(K2_VISION, INT4), Layout(pp=2), stages_of(61, 2, "inner"), vision_sliced=True)
    assert [weights[Component.VISION] for weights in held] == [942_287_840] * 2


@pytest.mark.parametrize(
    ("pipeline", "pp", "layers"),
    [
        ("inner", 2, [31, 30]),
        ("inner", 4, [15, 15, 16, 15]),
        ("inner", 8, [7, 7, 8, 8, 8, 8, 8, 7]),
        ("last-each", 2, [30, 31]),
        ("last-each", 8, [7, 7, 7, 8, 8, 8, 8, 8]),
        ("last-all", 8, [7, 7, 7, 7, 7, 7, 7, 12]),
        ("first-each", 4, [16, 15, 15, 15]),
    ],
)
def test_61_layers_over_stages(pipeline: Pipeline, pp: int, layers: list[int]) -> None:
    stages = stages_of(61, pp, pipeline)
    assert [end - first for first, end in stages] == layers
    assert [end for _, end in stages[:-1]] == [first for first, _ in stages[1:]]
    assert (stages[0][0], stages[-1][1]) == (0, 61)


def test_where_only_a_size_is_known() -> None:
    """583.7 GB of a GGUF: the experts are 1,014,686,023,680 of 1,026,408,232,448 parameters, the rest is BF16."""
    model = Checkpoint("gguf", K2, Quantization("gguf", "gguf"), (), "test", 583_704_309_137)
    experts = 583_704_309_137 * 1_014_686_023_680 / 1_026_408_232_448
    assert routed_bytes(model) == pytest.approx(experts, rel=1e-9)
    rest = sum(group.size_bytes for group in groups_of(model)) - routed_bytes(model)
    assert rest == 2 * (1_026_408_232_448 - 1_014_686_023_680)


def test_experts_that_stay_in_the_host() -> None:
    model, stages = checkpoint(K2, INT4), stages_of(61, 1, "inner")
    none, offloaded = (
        stage_weights(model, Layout(tp=2), stages, vision_sliced=True, on_host=HostPart(count))[0] for count in (0, 30)
    )
    assert Component.ROUTED_EXPERTS not in none
    assert offloaded[Component.ROUTED_EXPERTS] == pytest.approx(routed_bytes(model) * 30 / 384 / 2, abs=1)


layouts = st.builds(
    Layout,
    tp=st.sampled_from([1, 2, 4]),
    pp=st.integers(1, 4),
    dp=st.sampled_from([1, 2, 4]),
    ep=st.sampled_from([1, 2, 4]),
)


@given(layouts, st.integers(4, 12))
def test_all_devices_together_hold_the_model_at_least_once(layout: Layout, layers: int) -> None:
    model = checkpoint(replace(TINY, layers=layers), PLAIN)
    rotary = layers * (256 // 4 // 2) * 4
    held = on_devices(model, layout)
    assert sum(held) * layout.tp * layout.dp >= model.total_bytes - rotary


@given(layouts, st.integers(4, 20), st.integers(1, 9))
def test_more_layers_never_take_less_on_any_stage_in_sum(layout: Layout, layers: int, more: int) -> None:
    few, many = (checkpoint(replace(TINY, layers=count), PLAIN) for count in (layers, layers + more))
    assert max(on_devices(many, layout)) >= max(on_devices(few, layout))
    assert sum(on_devices(many, layout)) > sum(on_devices(few, layout))


@pytest.mark.parametrize("engine", ["vllm", "vllm-ascend"])
def test_what_no_stage_can_share_lies_on_the_last_before_0_8(engine: str) -> None:
    """get_pp_indices of 0.7.3 gives the last stage all that is left: 61 layers over 16 stages are fifteen times three,
    and sixteen."""
    counts = [last - first for first, last in stages_of(61, 16, defaults_of(engine, "0.7.3").pipeline)]
    assert counts == [3] * 15 + [16]
    later = [last - first for first, last in stages_of(61, 16, defaults_of(engine, "0.8.0").pipeline)]
    assert (max(later), later[-1]) == (4, 3)
