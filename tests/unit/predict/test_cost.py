"""The time of a step against bytes and products counted by hand from the sizes of Kimi-K2 and the data sheet of the
H200: 4.8 TB/s, 989 TFLOPS in BF16, NVLink of 450 GB/s."""

from __future__ import annotations

from math import hypot

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.catalog.step_constants import step_constants
from moonpad.predict.cost import StepCost, expected_maximum
from moonpad.values.plan import Settings
from tests.unit.predict.served import h200, ideal, served

EXPERT_WEIGHTS = 3 * 7168 * 2048
INT4 = 0.5 + 2 / 32
"""Bytes a weight: 4 bits, and a scale in BF16 for each 32."""
TOKEN_KV = (512 + 64) * 2 * 61


def test_experts_of_one_token_are_eight_of_384() -> None:
    step = StepCost(h200(), ideal()).breakdown(1, 1000)
    read = 8 * EXPERT_WEIGHTS * INT4 * 60 / 8 / 4.8e12
    products = 8 * 2 * EXPERT_WEIGHTS * 60 / 8 / 989e12
    assert step.experts == pytest.approx(hypot(read, products), rel=1e-3)


def test_many_tokens_touch_every_expert() -> None:
    step = StepCost(h200(), ideal()).breakdown(4096, 4096 * 10)
    read = 384 * EXPERT_WEIGHTS * INT4 * 60 / 8 / 4.8e12
    products = 4096 * 8 * 2 * EXPERT_WEIGHTS * 60 / 8 / 989e12
    assert step.experts == pytest.approx(hypot(read, products), rel=1e-3)


def test_decode_attention_reads_the_latents_of_every_token_once() -> None:
    step = StepCost(h200(), ideal()).breakdown(4, 4 * 8192)
    assert step.attention == pytest.approx(4 * 8192 * TOKEN_KV / 4.8e12)


def test_decode_context_parallelism_shares_the_latents_and_adds_an_exchange() -> None:
    alone = StepCost(h200(), ideal()).breakdown(4, 4 * 8192)
    shared = StepCost(served(tp=8, dcp=8), ideal()).breakdown(4, 4 * 8192)
    assert alone.all_to_all == 0 < shared.all_to_all
    assert shared.attention < alone.attention


def test_an_fp8_cache_halves_what_is_read() -> None:
    halved = served(settings=Settings(kv_cache_dtype="fp8"))
    whole = StepCost(h200(), ideal()).breakdown(4, 4 * 8192).attention
    assert StepCost(halved, ideal()).breakdown(4, 4 * 8192).attention == pytest.approx(whole / 2)


def test_prefill_attention_counts_pairs() -> None:
    tokens = 8192
    step = StepCost(h200(), ideal()).breakdown(0, 0, tokens, tokens * tokens / 2)
    products = 2 * (tokens * tokens / 2) * 8 * (128 + 64 + 128) * 61
    assert step.attention == pytest.approx(products / 989e12)


def test_two_all_reduces_a_layer() -> None:
    step = StepCost(h200(), ideal()).breakdown(64, 64)
    ring = 2 * 7 / 8 * 64 * 7168 * 2 / 450e9
    assert step.all_reduce == pytest.approx(2 * 61 * ring)
    assert StepCost(h200(), ideal(all_reduce_s=1e-5)).breakdown(64, 64).all_reduce == pytest.approx(
        2 * 61 * (ring + 1e-5)
    )


def test_dense_matrices_by_hand() -> None:
    """Latents whole on each rank; q_b, o_proj, the dense MLP and shared experts in eighths. All BF16."""
    latents = 7168 * 1536 + 7168 * 576
    shared = (1536 * 64 * 192 + 64 * 128 * 7168) / 8
    mlps = (3 * 7168 * 18432 + 60 * EXPERT_WEIGHTS) / 8 + 60 * 384 * 7168
    kv_b = 61 * 512 * 64 * 256 / 8
    step = StepCost(h200(), ideal()).breakdown(1, 1)
    assert step.linear == pytest.approx(2 * (61 * (latents + shared) + mlps + kv_b) / 4.8e12, rel=0.01)


def test_a_processor_has_its_cores_rates() -> None:
    tiny = served("kimi-k2-tiny", "cpu", "vllm-cpu", "", Settings(kv_cache_gib=1), tp=1)
    step = StepCost(tiny, ideal(cpu_core_bytes_per_s=1e9, cpu_core_flops=1e15)).breakdown(1, 1)
    assert 0 < step.total < 18.4e6 / 8e9  # no more than all its weights are read, by eight cores


def test_on_a_processor_experts_cost_as_soon_as_they_are_touched() -> None:
    """Of eight experts one token takes two, and eight tokens nearly all: after that the tokens alone add."""
    tiny = served("kimi-k2-tiny", "cpu", "vllm-cpu", "", Settings(kv_cache_gib=1), tp=1)
    cost = StepCost(tiny, ideal(cpu_core_bytes_per_s=1e15, cpu_core_flops=1e9, cpu_expert_tile=20.0))
    one, eight, many = (cost.breakdown(count, count).experts for count in (1, 8, 64))
    distinct = 8 * (1 - 0.75**8)
    assert eight / one == pytest.approx((16 + 20 * distinct) / (2 + 20 * 2), rel=0.01)
    assert many / one == pytest.approx((128 + 20 * 8) / (2 + 20 * 2), rel=0.01)


def test_prompts_are_read_one_after_another_on_a_processor_too() -> None:
    """So that of those that come together the first goes alone into a step, as seen with vLLM 0.32."""
    tiny = served("kimi-k2-tiny", "cpu", "vllm-cpu", "", Settings(kv_cache_gib=1), tp=1)
    cost = StepCost(tiny, step_constants())
    assert 0 < cost.reading_seconds(100) < cost.request_seconds(100) / 5


def test_speculation_verifies_more_tokens_and_yields_more() -> None:
    plain, drafting = h200(), served(settings=Settings(draft_tokens=3))
    cost = StepCost(drafting, step_constants(), acceptance=0.5)
    assert cost.tokens_per_step == pytest.approx(1 + 0.5 + 0.25 + 0.125)
    assert cost.seconds(8, 8000) > StepCost(plain, step_constants()).seconds(8, 8000)


def test_experts_in_host_memory_are_read_there() -> None:
    layout = {"tp": 1}
    hosted = served("moonshotai/Kimi-K2-Thinking", "1xRTX4090-48G", "ktransformers", "", **layout)
    step = StepCost(hosted, ideal(host_bytes_per_s=250e9, host_flops=1e18)).breakdown(1, 100)
    assert step.experts == 0
    assert step.host_experts == pytest.approx(8 * EXPERT_WEIGHTS * INT4 * 60 / 500e9, rel=0.01)  # of two sockets


def test_a_pipeline_of_two_takes_as_long_for_one_sequence() -> None:
    """Every layer is read by one of the stages; only hops come on top."""
    one, two = served(cluster="2x8xH200", tp=16), served(cluster="2x8xH200", tp=8, pp=2)
    constants = ideal()
    assert StepCost(two, constants).breakdown(1, 1000).experts == pytest.approx(
        2 * StepCost(one, constants).breakdown(1, 1000).experts, rel=0.02
    )


def test_shares_of_a_step_add_up() -> None:
    step = StepCost(h200(), step_constants()).breakdown(16, 16 * 2000)
    assert sum(share for _, share in step.shares) == pytest.approx(1)
    assert step.total == pytest.approx(StepCost(h200(), step_constants()).seconds(16, 16 * 2000))


@given(
    decodes=st.integers(1, 600),
    length=st.integers(1, 20_000),
    prefill=st.integers(0, 8192),
    more=st.integers(1, 300),
    place=st.integers(0, 4),
)
def test_more_work_never_takes_less(decodes: int, length: int, prefill: int, more: int, place: int) -> None:
    cost = COSTS[place]
    pairs = prefill * prefill / 2
    step = cost.seconds(decodes, decodes * length, prefill, pairs)
    assert step > 0
    assert cost.seconds(decodes, decodes * length + more, prefill, pairs) >= step
    assert cost.seconds(decodes, decodes * length, prefill + more, pairs + more) >= step * (1 - 1e-9)
    assert cost.seconds(decodes + more, (decodes + more) * length, prefill, pairs) >= step * (1 - 1e-9)


@given(decodes=st.integers(1, 600), length=st.integers(1, 20_000), place=st.integers(0, 4))
def test_no_constant_beats_the_data_sheet(decodes: int, length: int, place: int) -> None:
    step = COSTS[place].seconds(decodes, decodes * length)
    assert step >= StepCost(PLANS[place], ideal()).seconds(decodes, decodes * length)


PLANS = (
    h200(),
    served(tp=8, ep=8),
    served(tp=8, dcp=8),
    served("moonshotai/Kimi-K2-Instruct", "2x8xH200", tp=8, pp=2),
    served("nvidia/Kimi-K2.5-NVFP4", "8xB200", "sglang", "0.5.9", tp=2, dp=4, ep=8),
)
COSTS = tuple(StepCost(plan, step_constants()) for plan in PLANS)


def test_the_expected_maximum_of_normal_variables() -> None:
    """Tables of order statistics: 0.5642, 1.0294, 1.4236, 2.5076 of 2, 4, 8 and 100."""
    for count, expected in ((1, 0), (2, 0.5642), (4, 1.0294), (8, 1.4236), (100, 2.5076)):
        assert expected_maximum(count) == pytest.approx(expected, abs=0.03)
