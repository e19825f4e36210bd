"""Measured starts in place of the model: when they hold, when they hold nearly, and when not at all."""

from __future__ import annotations

import pytest

from moonpad.catalog.calibrations import Calibration, calibrations
from moonpad.plan.tensors import tensor_groups
from moonpad.values.checkpoint import Checkpoint, Quantization
from moonpad.values.cluster import Device
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from moonpad.values.units import GIB
from tests.configurations import memory_of
from tests.unit.plan.known import B200, FP8, H100, H200, INT4, K2, cluster


def thinking(quantization: Quantization = INT4, vision: int = 0) -> Checkpoint:
    architecture = replace(K2, vision_parameters=vision)
    groups = tensor_groups(architecture, quantization)
    size = sum(group.size_bytes for group in groups)
    return Checkpoint("a-fine-tune", architecture, quantization, groups, "test", size)


SEED_0 = Settings(gpu_memory_utilization=0.95, enforce_eager=True, max_num_batched_tokens=4096, max_num_seqs=1)


def run(
    device: Device, gib: float, layout: Layout, settings: Settings, version: str = "0.11", tokens: int | None = None
) -> Calibration:
    return Calibration(
        id="a-run",
        engine="vllm",
        engine_version=version,
        model="moonshotai/Kimi-K2-Thinking",
        scheme="int4",
        device=device.id,
        layout=layout,
        settings=settings,
        kv_bytes=gib * GIB,
        kv_bytes_low=(gib - 0.005) * GIB,
        kv_bytes_high=(gib + 0.005) * GIB,
        source="a log",
        checked="2026-11-20",
        standing="reported",
        kv_tokens=tokens,
    )


KNOWN = (
    run(H200, 46.80, Layout(tp=8), Settings(max_num_seqs=1024, max_num_batched_tokens=8192), tokens=715_072),
    run(H100, 0.86, Layout(tp=8), SEED_0),
)


def memory_with(
    settings: Settings,
    layout: Layout | None = None,
    *,
    device: Device = H100,
    version: str = "0.11.1rc6.dev211",
    checkpoint: Checkpoint | None = None,
    context: int | None = None,
    known: tuple[Calibration, ...] = KNOWN,
) -> Memory:
    model = checkpoint or thinking()
    return memory_of(
        model, cluster(device), "vllm", version, layout or Layout(tp=8), settings, context=context, calibrations=known
    )


def test_seed_0_measured() -> None:
    """0.86 GiB are 13,120 tokens in whole blocks of 64: 12,288 fit, 32,768 need 2.14 GiB."""
    works = memory_with(SEED_0, context=12288)
    assert works.measured
    assert works.kv_bytes.value / GIB == pytest.approx(0.86)
    assert works.kv_tokens.value == 13_120
    assert 13_000 < works.max_context.low <= works.max_context.high < 13_200
    assert works.fits
    assert not works.tight
    refused = memory_with(SEED_0, context=32768)
    assert not refused.fits
    assert round(512 * 64 * refused.kv_bytes_per_token / GIB, 2) == 2.14


def test_its_overhead_is_what_the_start_had_left_over() -> None:
    """0.95 × 79.18 − 70.95 − 0.86 GiB, within the digits of the log. The log has 71.07 of weights: with 0.12 that the
    allocator rounds, which is then part of everything else."""
    memory = memory_with(SEED_0)
    assert memory.overhead.value / GIB == pytest.approx(0.95 * 79.18 - 70.951 - 0.86, abs=0.005)
    assert memory.overhead.high - memory.overhead.low == pytest.approx(0.01 * GIB, rel=1e-6)
    assert not memory.overhead_parts


def test_the_context_plays_no_part() -> None:
    assert memory_with(replace(SEED_0, max_model_len=8192)).measured


def test_what_the_engine_does_unasked_is_the_same_setting() -> None:
    memory = memory_with(Settings(), device=H200)
    assert memory.measured
    assert (memory.kv_tokens.low, memory.kv_tokens.high) == (715_072, 715_072)


def test_the_log_of_dcp_8_to_the_token() -> None:
    """Its 46.80 GiB alone would be 11,173 blocks; its 5,721,088 tokens say that there were 11,174."""
    dcp = Layout(tp=8, dcp=8)
    known = (run(H200, 46.80, dcp, Settings(max_num_seqs=1024, max_num_batched_tokens=8192), tokens=5_721_088),)
    memory = memory_with(Settings(), dcp, device=H200, known=known)
    assert memory.measured
    assert (memory.kv_tokens.low, memory.kv_tokens.value, memory.kv_tokens.high) == (5_721_088,) * 3


@pytest.mark.parametrize(
    ("settings", "layout", "word"),
    [
        (SEED_0, Layout(tp=8, dcp=8), "dcp 1"),
        (replace(SEED_0, gpu_memory_utilization=0.97), Layout(tp=8), "a memory fraction of 0.95"),
        (replace(SEED_0, kv_cache_dtype="fp8"), Layout(tp=8), "a KV cache in BF16"),
    ],
)
def test_nearly_the_same_start_is_estimated_from(settings: Settings, layout: Layout, word: str) -> None:
    memory = memory_with(settings, layout)
    assert not memory.measured
    assert memory.overhead.because.startswith("estimated from the measured run a-run")
    assert word in memory.overhead.because
    exact = memory_with(SEED_0).overhead
    assert memory.overhead.value == pytest.approx(exact.value, abs=1)
    assert memory.overhead.low < exact.low
    assert memory.overhead.high > exact.high


FOUR_K = 4096 * 2 * (4 * 7168 + 8 * 7424)
"""4 copies of 7,168 values and 8 experts of 7,168 + 256, for each of 4,096 tokens."""
ONE_K = 1024 * 2 * 4 * 7168 + 65_536 * 8 * 256 * 2
"""With 1,024 tokens a step, what kv_b makes of 64k tokens is larger than what the experts hold."""


def test_dcp_8_gives_eight_times_the_tokens_unmeasured() -> None:
    plain, eight = memory_with(SEED_0), memory_with(SEED_0, Layout(tp=8, dcp=8))
    assert eight.kv_tokens.value == 8 * plain.kv_tokens.value
    assert not eight.measured


@pytest.mark.parametrize(
    "other",
    [
        {"settings": replace(SEED_0, attention_backend="TRITON_MLA")},
        {"layout": Layout(tp=4, dp=2, ep=8)},
        {"layout": Layout(tp=4, pp=2)},
        {"device": B200},
        {"version": "0.12.0"},
        {"version": ""},
        {"checkpoint": thinking(FP8)},
        {"checkpoint": thinking(vision=471_143_920)},
    ],
)
def test_another_start_says_nothing(other: dict[str, object]) -> None:
    memory = memory_with(**{"settings": SEED_0, **other})  # type: ignore[arg-type]
    assert memory.overhead.because.startswith("model")


@pytest.mark.parametrize(
    ("settings", "differs", "moved_bytes"),
    [
        (replace(SEED_0, max_num_batched_tokens=8192), "4,096 batched tokens", 4096 * 2 * (4 * 7168 + 8 * 7424)),
        (
            replace(SEED_0, max_num_batched_tokens=1024),
            "4,096 batched tokens",
            ONE_K - 4096 * 2 * (4 * 7168 + 8 * 7424),
        ),
        (replace(SEED_0, max_num_seqs=2), "1 sequence", 0),
        (replace(SEED_0, enforce_eager=False), "no CUDA graphs", 0),
    ],
)
def test_a_start_with_another_batch_is_moved_by_the_model(settings: Settings, differs: str, moved_bytes: int) -> None:
    exact, memory = memory_with(SEED_0), memory_with(settings)
    assert f"had {differs}:" in memory.overhead.because
    assert not memory.measured
    moved = memory.overhead.value - exact.overhead.value
    assert moved == pytest.approx(moved_bytes, abs=GIB // 100)  # the log has two digits
    assert memory.overhead.low < memory.overhead.value < memory.overhead.high


def test_a_start_says_nothing_where_the_model_knows_it_better() -> None:
    """With 1,024 sequences the sampler of 0.11 takes 1.6 to 6.9 GiB: no start with many tells what few take."""
    many = run(H100, 0.30, Layout(tp=8), replace(SEED_0, max_num_seqs=1024, gpu_memory_utilization=0.99))
    memory = memory_with(replace(SEED_0, max_num_seqs=2), known=(many,))
    assert memory.overhead.because.startswith("model")


def test_an_exact_start_is_preferred_and_the_last_of_them() -> None:
    near = run(H100, 0.50, Layout(tp=8, dcp=8), SEED_0)
    newer = replace(run(H100, 0.90, Layout(tp=8), SEED_0), id="newer")
    for order in ((near, *KNOWN, newer), (*KNOWN, newer, near)):
        memory = memory_with(SEED_0, known=order)
        assert memory.measured
        assert "newer" in memory.overhead.because


def test_a_log_that_contradicts_its_gib_is_read_by_its_gib() -> None:
    """Another block size, say: 100 tokens cannot be what 0.86 GiB hold."""
    memory = memory_with(SEED_0, known=(run(H100, 0.86, Layout(tp=8), SEED_0, tokens=128),))
    assert memory.kv_tokens.value == 13_120


def test_the_starts_of_the_catalogue() -> None:
    """Seed 3's two logs and seed 0's, to their digits."""
    shipped = calibrations()
    tp8 = memory_with(Settings(), device=H200, known=shipped)
    dcp8 = memory_with(Settings(), Layout(tp=8, dcp=8), device=H200, known=shipped)
    eager = memory_with(SEED_0, known=shipped)
    assert all(memory.measured for memory in (tp8, dcp8, eager))
    assert tp8.kv_tokens.value == 715_072
    assert dcp8.kv_tokens.value == 5_721_088
    assert 13_100 <= eager.kv_tokens.value < 13_200
