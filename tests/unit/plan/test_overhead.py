"""The model of the overhead against the two starts that are known, and its ranges."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.plan.effective_settings import Limits
from moonpad.plan.overhead import (
    CONTEXT,
    FORWARD,
    GRAPHS,
    SAMPLER,
    UNUSED,
    Modelled,
    free_overhead,
    modelled_overhead,
    static_overhead,
)
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Device
from moonpad.values.plan import Layout, Settings
from moonpad.values.units import GIB
from tests.configurations import limits_of
from tests.unit.plan.known import H100, H200, INT4, K2

THINKING = Checkpoint("k2-thinking", K2, INT4, (), "test", 594_205_918_560)
TP8 = Layout(tp=8)
DEFAULTS_H200 = Settings(max_num_seqs=1024, max_num_batched_tokens=8192)
EAGER_H100 = Settings(max_num_seqs=1, max_num_batched_tokens=4096, enforce_eager=True, gpu_memory_utilization=0.95)
SEEN_H200_GIB = 0.90 * 139.80 - 71.07 - 46.80
SEEN_H100_GIB = 0.95 * 79.18 - 71.07 - 0.86


def limits(device: Device, settings: Settings, version: str = "0.11.0", engine: str = "vllm") -> Limits:
    return limits_of(THINKING, device, engine, version, TP8, settings)


def modelled(device: Device, settings: Settings, version: str = "0.11.0") -> Modelled:
    return modelled_overhead("vllm", version, limits(device, settings, version), K2, TP8)


@pytest.mark.parametrize(
    ("device", "settings", "seen_gib"),
    [(H200, DEFAULTS_H200, SEEN_H200_GIB), (H100, EAGER_H100, SEEN_H100_GIB)],
)
@pytest.mark.parametrize("version", ["0.11.0", "0.32.0"])
def test_the_known_starts_lie_in_the_range(device: Device, settings: Settings, seen_gib: float, version: str) -> None:
    total = modelled(device, settings, version).total
    assert total.low <= seen_gib * GIB <= total.high


def test_each_known_start_is_predicted_from_the_other() -> None:
    """The context fitted to one start, everything else by the model: within 0.15 GiB of the other. The figures stand in
    benchmarks/results/overhead.json."""
    peaks = {
        device.id: modelled(device, settings).total.value / GIB - modelled(device, settings).parts[CONTEXT] / GIB
        for device, settings in ((H200, DEFAULTS_H200), (H100, EAGER_H100))
    }
    from_h100 = SEEN_H100_GIB - peaks[H100.id] + peaks[H200.id]
    from_h200 = SEEN_H200_GIB - peaks[H200.id] + peaks[H100.id]
    assert from_h100 == pytest.approx(SEEN_H200_GIB, abs=0.15)
    assert from_h200 == pytest.approx(SEEN_H100_GIB, abs=0.15)


def test_the_sampler_decides_with_many_sequences_and_the_forward_pass_with_few() -> None:
    """1,024 × 163,840 × 36 bytes are 5.62 GiB; 8,192 tokens at 0.20 GiB a thousand are 1.64."""
    many = modelled(H200, DEFAULTS_H200).parts
    few = modelled(H200, replace(DEFAULTS_H200, max_num_seqs=16)).parts
    assert many[SAMPLER] / GIB == pytest.approx(5.625)
    assert FORWARD not in many
    assert few[FORWARD] / GIB == pytest.approx(1.6384)
    assert SAMPLER not in few


def test_graphs_count_since_0_20_unless_eager() -> None:
    assert GRAPHS not in modelled(H200, DEFAULTS_H200, "0.19.1").parts
    assert GRAPHS in modelled(H200, DEFAULTS_H200, "0.20.0").parts
    assert GRAPHS not in modelled(H200, replace(DEFAULTS_H200, enforce_eager=True), "0.20.0").parts


def test_the_parts_add_up() -> None:
    for version in ("0.11.0", "0.32.0"):
        for settings in (DEFAULTS_H200, EAGER_H100):
            overhead = modelled(H200, settings, version)
            assert sum(overhead.parts.values()) == pytest.approx(overhead.total.value)


def test_only_the_last_stage_samples() -> None:
    overhead = modelled_overhead("vllm", "0.11.0", limits(H200, DEFAULTS_H200), K2, TP8, samples=False)
    assert SAMPLER not in overhead.parts


def test_experts_and_nodes_widen_the_range_upwards() -> None:
    base = modelled_overhead("vllm", "0.32.0", limits(H200, DEFAULTS_H200), K2, TP8).total
    wide = modelled_overhead("vllm", "0.32.0", limits(H200, DEFAULTS_H200), K2, Layout(tp=8, ep=8), nodes=2).total
    assert (wide.value, wide.low) == (base.value, base.low)
    assert wide.high - base.high == pytest.approx(3.0 * GIB)


def test_sglang_takes_its_fraction_of_what_is_free() -> None:
    """At 0.88 only that part of the 1.7 GiB context comes out of the static memory."""
    given_fraction = limits(H200, Settings(gpu_memory_utilization=0.88), "0.5.23", "sglang")
    chosen = limits(H200, Settings(), "0.5.23", "sglang")
    assert static_overhead("sglang", "0.5.23", given_fraction).total.value == pytest.approx(0.88 * 1.7 * GIB)
    assert not given_fraction.chosen
    assert chosen.chosen
    widths = [
        (total := static_overhead("sglang", "0.5.23", each).total).high - total.low for each in (given_fraction, chosen)
    ]
    assert widths[1] > widths[0]


def test_a_log_of_sglang_on_an_h200() -> None:
    """SemiAnalysisAI/InferenceX#2128: weights of 125.65 GiB at 0.88 leave nothing; 0.9113 is the least that does."""

    def left(fraction: float) -> float:
        limit = limits(H200, Settings(gpu_memory_utilization=fraction), "0.5.23", "sglang")
        return fraction * 139.80 - 125.65 - static_overhead("sglang", "0.5.23", limit).total.value / GIB

    assert left(0.88) < 0
    assert left(0.9113) == pytest.approx(0, abs=0.5)


def test_tensorrt_llm_leaves_a_tenth_of_what_is_free() -> None:
    limit = limits(H200, Settings(), "1.2", "tensorrt-llm")
    active = modelled_overhead("tensorrt-llm", "1.2", limit, K2, TP8)
    weights, device = round(71.07 * GIB), H200.usable_bytes
    whole = free_overhead(active, limit, device, weights)
    free = device - weights - active.total.value
    assert whole.parts[UNUSED] == pytest.approx(0.1 * free)
    assert device - weights - whole.total.value == pytest.approx(0.9 * free)


@given(st.integers(1, 10**5), st.integers(1, 4096), st.integers(0, 10**5), st.integers(0, 4096))
def test_more_tokens_or_sequences_never_need_less(tokens: int, seqs: int, more_tokens: int, more_seqs: int) -> None:
    small = modelled(H200, Settings(max_num_batched_tokens=tokens, max_num_seqs=seqs)).total
    settings = Settings(max_num_batched_tokens=tokens + more_tokens, max_num_seqs=seqs + more_seqs)
    large = modelled(H200, settings).total
    assert (large.value, large.low, large.high) >= (small.value, small.low, small.high)
    assert large.value >= small.value
    assert large.low >= small.low
    assert large.high >= small.high
