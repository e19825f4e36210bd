"""The rows of overhead.toml: that they are read, and say what the engines do. What is expected is from their code."""

from __future__ import annotations

from typing import Final

import pytest

from moonpad.catalog.device_overhead import Spread, context_of, contexts, overhead_of, overheads
from moonpad.catalog.overhead import (
    batches_of,
    block_of,
    defaults_of,
    host_processes,
    reserve_of,
)
from moonpad.plan.effective_settings import holds_fp8
from moonpad.values.checkpoint import Checkpoint, Quantization
from moonpad.values.cluster import Device
from moonpad.values.plan import Layout, Settings
from moonpad.values.platform import Platform
from tests.configurations import default_settings, limits_of
from tests.unit.plan.known import A100, B200, FP8, H100, H200, K2, K2_VISION, RTX4090_48G

ENGINES: Final = ("vllm", "vllm-cpu", "vllm-ascend", "sglang", "sglang-cpu", "ktransformers", "tensorrt-llm")
ONE = Checkpoint("k2", K2, FP8, (), "test", 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_has_rows_with_a_source(engine: str) -> None:
    rows = [defaults_of(engine, ""), batches_of(engine, "", H200), block_of(engine, "", H200.capability, None, False)]
    if not engine.endswith("-cpu"):
        rows.append(overhead_of(engine, ""))
    if engine in ("sglang", "ktransformers"):
        rows.append(reserve_of(engine, "", H200))
    if engine in ("vllm-cpu", "sglang-cpu", "ktransformers"):
        rows.append(host_processes()[engine])
    for row in rows:
        assert row.provenance.source
        assert row.provenance.checked >= "2026-11-20"


@pytest.mark.parametrize(
    ("version", "fraction", "graphs", "by_request"),
    [
        ("0.10.2", 0.90, False, False),
        ("0.11.1rc6.dev211", 0.90, False, False),
        ("0.19.0", 0.90, False, False),
        ("0.20.0", 0.92, True, False),
        ("0.21.0", 0.92, True, True),
        ("0.33.0", 0.92, True, True),
        ("", 0.92, True, True),
    ],
)
def test_vllm_by_version(version: str, fraction: float, graphs: bool, by_request: bool) -> None:
    row = defaults_of("vllm", version)
    assert (row.memory_fraction, row.graphs_counted, row.tokens_by_request) == (fraction, graphs, by_request)


@pytest.mark.parametrize(
    ("device", "version", "tokens", "seqs"),
    [
        (H100, "0.11.0", 8192, 1024),
        (H200, "0.32.0", 8192, 1024),
        (A100, "0.32.0", 2048, 256),
        (RTX4090_48G, "0.32.0", 2048, 256),
        (B200, "0.25.1", 8192, 1024),
        (B200, "0.32.0", 16384, 1024),
    ],
)
def test_what_vllm_serves_with_unasked(device: Device, version: str, tokens: int, seqs: int) -> None:
    settings = default_settings(ONE, device, "vllm", version, Layout(tp=8))
    assert (settings.max_num_batched_tokens, settings.max_num_seqs) == (tokens, seqs)


def test_a_cpu_serves_with_more_on_more_ranks() -> None:
    settings = default_settings(ONE, H100, "vllm-cpu", "0.32.0", Layout(tp=2))
    assert (settings.max_num_batched_tokens, settings.max_num_seqs) == (4096, 256)


def test_no_more_sequences_than_tokens() -> None:
    settings = Settings(max_num_batched_tokens=64, max_num_seqs=1024)
    assert limits_of(ONE, H200, "vllm", "0.32.0", Layout(tp=8), settings).max_num_seqs == 64


@pytest.mark.parametrize(
    ("device", "version", "settings", "size"),
    [
        (H200, "0.11.0", Settings(), 64),
        (H200, "0.17.0", Settings(), 64),
        (H200, "0.32.0", Settings(), 16),
        (H200, "0.32.0", Settings(kv_cache_dtype="fp8"), 64),
        (H200, "0.32.0", Settings(attention_backend="FLASHMLA"), 64),
        (H200, "0.32.0", Settings(attention_backend="flashmla"), 64),
        (H200, "0.32.0", Settings(attention_backend="NO_SUCH_BACKEND"), 16),
        (B200, "0.11.0", Settings(), 128),
        (B200, "0.17.0", Settings(), 64),
        (B200, "0.32.0", Settings(), 32),
        (B200, "0.32.0", Settings(attention_backend="CUTLASS_MLA"), 128),
        (A100, "0.11.0", Settings(), 16),
        (H200, "0.32.0", Settings(block_size=128), 128),
        (H200, "0.11.0", Settings(block_size=16), 64),
    ],
)
def test_the_block_that_vllm_takes(device: Device, version: str, settings: Settings, size: int) -> None:
    assert limits_of(ONE, device, "vllm", version, Layout(tp=8), settings).block_size == size


def test_a_cpu_takes_blocks_of_16_whatever_is_asked() -> None:
    limits = limits_of(ONE, H100, "vllm-cpu", "0.32.0", Layout(), Settings(block_size=128))
    assert limits.block_size == 16


@pytest.mark.parametrize(
    ("dtype", "one_byte"),
    [("auto", False), ("bfloat16", False), ("fp8", True), ("fp8_e4m3", True), ("FP8_E5M2", True), ("", False)],
)
def test_kv_types(dtype: str, one_byte: bool) -> None:
    assert holds_fp8(dtype) == one_byte


def test_auto_takes_over_the_kv_scheme_of_an_nvfp4_checkpoint() -> None:
    nvfp4 = Checkpoint("k2", K2, Quantization("nvfp4", "modelopt", kv_cache="fp8"), (), "test", 1)
    limits = [limits_of(nvfp4, B200, "vllm", version, Layout(tp=8), Settings()) for version in ("0.11.0", "0.32.0")]
    assert [limit.kv_fp8 for limit in limits] == [False, True]
    explicit = limits_of(nvfp4, B200, "vllm", "0.32.0", Layout(tp=8), Settings(kv_cache_dtype="bfloat16"))
    assert not explicit.kv_fp8


@pytest.mark.parametrize(
    ("device", "version", "layout", "settings", "fraction"),
    [
        # 512 + 8192 × 1.5 + 8 × 128 + 512 × 2 + 1536 = 16,384 MiB of 143,771 and of 81,559
        (H200, "0.5.23", Layout(tp=8), Settings(), 0.886),
        (H100, "0.5.23", Layout(tp=8), Settings(), 0.799),
        # without graphs 13,824 MiB; with 1,024 tokens no less than 10,240
        (H200, "0.5.23", Layout(tp=8), Settings(enforce_eager=True), 0.904),
        (H200, "0.5.23", Layout(tp=8), Settings(enforce_eager=True, max_num_batched_tokens=1024), 0.929),
        # 0.4.9: 12 GiB and half a GiB for each of 8 ranks; 9.5 on an H100
        (H200, "0.4.9.post2", Layout(tp=8), Settings(), 0.886),
        (H100, "0.4.9.post2", Layout(tp=8), Settings(), 0.831),
        (H200, "0.5.23", Layout(tp=8), Settings(gpu_memory_utilization=0.7), 0.7),
    ],
)
def test_the_fraction_that_sglang_chooses(
    device: Device, version: str, layout: Layout, settings: Settings, fraction: float
) -> None:
    limits = limits_of(ONE, device, "sglang", version, layout, settings)
    assert limits.memory_fraction == pytest.approx(fraction, abs=0.0005)


def test_sglang_leaves_more_for_a_model_that_sees() -> None:
    text, seeing = (
        limits_of(Checkpoint("k2", architecture, FP8, (), "test", 1), H200, "sglang", "0.4.9", Layout(tp=8), Settings())
        for architecture in (K2, K2_VISION)
    )
    assert seeing.memory_fraction == pytest.approx(0.9 * text.memory_fraction)


def test_what_is_not_chunked_is_still_a_number() -> None:
    limits = limits_of(ONE, H200, "sglang", "0.5.23", Layout(tp=8), Settings(max_num_batched_tokens=-1))
    assert limits.max_num_batched_tokens == 16384


@pytest.mark.parametrize(
    ("version", "scheme", "platform", "row"),
    [
        ("0.11.0", "int4", Platform.CUDA, "0"),
        ("0.19.0", "nvfp4", Platform.CUDA, "0.12"),
        ("0.25.1", "int4", Platform.CUDA, "0.12"),
        ("", "int4", Platform.CUDA, "0.26"),
        ("0.11.0", "fp8", Platform.CUDA, "0"),
        ("0.16.0", "fp8", Platform.CUDA, "0.11.1.dev0"),
        ("0.20.1", "fp8", Platform.CUDA, "0.17"),
        ("0.20.1", "fp8", Platform.ROCM, "0"),
    ],
)
def test_the_context_by_release_device_and_weights(version: str, scheme: str, platform: Platform, row: str) -> None:
    chosen = context_of("vllm", version, platform, scheme)
    assert chosen.since == row
    assert chosen.platform in (None, platform)
    assert (chosen.platform is None) == (platform is Platform.CUDA)


def test_every_figure_lies_in_its_range() -> None:
    for row in (*overheads(), *contexts()):
        spreads = [value for name in row.__slots__ if isinstance(value := getattr(row, name, None), Spread)]
        assert spreads, row
        assert all(0 <= spread.low <= spread.value <= spread.high for spread in spreads)
