"""Kimi-Linear and Kimi-K3: blocks, states and tokens, against public start logs and hand arithmetic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.catalog.models import find_model
from moonpad.engines import ENGINES
from moonpad.plan.effective_settings import limits_of
from moonpad.plan.linear_state import Paging, paging_of, state_bytes
from moonpad.plan.memory import memory_of
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.values.checkpoint import LinearAttention
from moonpad.values.cluster import Cluster, Device, Host
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Layout, Platform, Settings
from moonpad.values.records import replace
from moonpad.values.units import GIB, MIB

KIMI_LINEAR = LinearAttention((3, 7, 11, 15, 19, 23, 26), heads=32, head_dim=128, kernel=4)
K3 = LinearAttention((*range(3, 93, 4), 92), heads=96, head_dim=128, kernel=4, full_gate=True)


def device(capability: str, usable_gib: float, driver_mib: int, platform: Platform = Platform.CUDA) -> Device:
    return Device(
        "one", "one", "one", platform, "", capability, driver_mib * MIB, int(usable_gib * GIB), False, False, 8, 8
    )


RTX3090 = device("8.6", 23.58, 24576)
MI355X = device("gfx950", 287.98, 294896, Platform.ROCM)
B300 = device("10.3", 267.0, 275040)
NO_SETTINGS = Settings()


def configuration(
    model: str,
    on: Device,
    layout: Layout,
    settings: Settings = NO_SETTINGS,
    engine: str = "vllm",
    version: str = "0.32.0",
) -> Configuration:
    known = find_model(model)
    assert known is not None
    cluster = Cluster("some", max(1, layout.world_size // 8), min(8, layout.world_size), on, Host())
    return Configuration(catalog_checkpoint(known), cluster, ENGINES[engine].facts, version, layout, settings)


def paging(case: Configuration, first: int = 0, end: int | None = None) -> Paging:
    return paging_of(case, limits_of(case), first, case.architecture.layers if end is None else end)


@pytest.mark.parametrize(
    ("linear", "tp", "drafted", "size_bytes"),
    [
        # 3 × 4096 inputs of 3 tokens in BF16, 32 matrices of 128 × 128 in FP32; over 2 ranks.
        (KIMI_LINEAR, 1, 0, 73_728 + 2_097_152),
        (KIMI_LINEAR, 2, 0, 1_085_440),
        (K3, 8, 0, 27_648 + 786_432),
        # A draft of 7 tokens: 10 inputs instead of 3.
        (K3, 16, 7, 46_080 + 393_216),
    ],
)
def test_bytes_of_a_state(linear: LinearAttention, tp: int, drafted: int, size_bytes: int) -> None:
    assert state_bytes(linear, tp, drafted) == size_bytes


def test_the_states_of_all_layers_as_sglang_counts_them() -> None:
    """Its calculator for Kimi-K3: 449,372,160 bytes a slot on one rank, 56,171,520 on each of 8."""
    assert 69 * state_bytes(K3, 1) == 449_372_160
    assert 69 * state_bytes(K3, 8) == 56_171_520


@pytest.mark.parametrize(
    ("model", "on", "tp", "version", "settings", "tokens", "padding"),
    [
        # vllm-project/vllm#28228: "Setting attention block size to 960 tokens", "Padding mamba page size by 1.89%".
        ("kimi-linear-awq", RTX3090, 2, "0.11.2", Settings(), 960, 1.89),
        # A public runbook of Kimi-K3 on 8×MI355X: 768 tokens, 8.68 %.
        ("k3", MI355X, 8, "0.28.0", Settings(), 768, 8.68),
        # vllm-project/vllm#51986, Kimi-K3 over 16 B300 with 7 drafted tokens and an FP8 KV cache: 768 tokens, 0.70 %.
        ("k3", B300, 16, "0.28.0", Settings(kv_cache_dtype="fp8", draft_tokens=7), 768, 0.70),
    ],
)
def test_blocks_as_logged(
    model: str, on: Device, tp: int, version: str, settings: Settings, tokens: int, padding: float
) -> None:
    case = configuration(model, on, Layout(tp=tp), settings, version=version)
    block = paging(case)
    linear = case.architecture.linear
    assert linear is not None
    assert block.tokens == tokens
    page = tokens * (576 if settings.kv_cache_dtype == "fp8" else 1152)
    state = state_bytes(linear, tp, settings.draft_tokens)
    assert round(100 * (page - state) / state, 2) == padding
    assert block.block_bytes == page * len(linear.mla_layers)
    assert block.bytes_per_token == page // tokens * len(linear.mla_layers)
    assert block.groups == 4  # 7 and 7, 7, 6; 24 and 23, 23, 23


def test_blocks_on_ascend() -> None:
    """vllm-project/vllm-ascend#14765: Kimi-K3 at TP16, seven drafted tokens, blocks of 384 tokens."""
    a3 = device("A3", 61, 65536, Platform.ASCEND)
    case = configuration("k3", a3, Layout(tp=16), Settings(draft_tokens=7), "vllm-ascend", "0.23.0")
    assert paging(case).tokens == 384


def test_kimi_linear_on_two_rtx_3090() -> None:
    """vllm-project/vllm#28228: 2.30 GiB, 75,840 tokens, "Maximum concurrency for 120,000 tokens per request: 2.48x"."""
    block = paging(configuration("kimi-linear-awq", RTX3090, Layout(tp=2), version="0.11.2"))
    logs = set()
    for kv_gib in (2.295, 2.299):  # what is printed as 2.30
        blocks = block.blocks(kv_gib * GIB)
        logs.add((block.logged(blocks, 120_000, 1, by_request=False), round(blocks / block.of_request(120_000, 1), 2)))
    assert logs == {(75_840, 2.48)}


def test_that_start_lies_within_the_range() -> None:
    settings = Settings(
        max_model_len=120_000, max_num_seqs=8, max_num_batched_tokens=64_000, gpu_memory_utilization=0.95
    )
    held = memory_of(configuration("kimi-linear-awq", RTX3090, Layout(tp=2), settings, version="0.11.2"))
    assert held.kv_bytes.low <= 2.30 * GIB <= held.kv_bytes.high
    assert held.kv_tokens.low <= 75_840 <= held.kv_tokens.high
    assert held.concurrency_at_context.low <= 2.48 <= held.concurrency_at_context.high
    assert held.fits


@pytest.mark.parametrize(
    ("blocks", "context", "tokens"),
    [(2102, 12_800, 1_169_808), (3048, 12_800, 1_696_278), (3047, 262_144, 2_295_266), (3628, 262_144, 2_732_926)],
)
def test_tokens_of_kimi_k3_as_logged(blocks: int, context: int, tokens: int) -> None:
    """Four starts in a public runbook of Kimi-K3 on 8×MI355X. The number of blocks is that which gives the figure: one
    block more or less gives another.
    """
    case = configuration("k3", MI355X, Layout(tp=8), version="0.28.0")
    said = [paging(case).logged(count, context, 1, by_request=True) for count in (blocks - 1, blocks, blocks + 1)]
    assert said[1] == tokens
    assert tokens not in (said[0], said[2])


def test_prefix_caching_takes_a_second_state() -> None:
    """vLLM keeps the state at the last block boundary too; it caches prefixes of such models unasked since 0.28."""

    def states(version: str, prefix_caching: bool | None = None) -> int:
        settings = Settings(prefix_caching=prefix_caching)
        return paging(configuration("k3", MI355X, Layout(tp=8), settings, version=version)).state_blocks

    assert states("0.28.0") == states("0.25.0", True) == 6
    assert states("0.25.0") == states("0.28.0", False) == 3


def test_kimi_k3_on_nvidia_keeps_the_state_at_the_end_of_the_prompt() -> None:
    """Read in the wheels: num_prefill_checkpoint_blocks 1 since 0.29 where FlashKDA runs, for gates with a bound."""

    def states(model: str, on: Device, version: str, prefix_caching: bool | None = None) -> int:
        settings = Settings(prefix_caching=prefix_caching)
        return paging(configuration(model, on, Layout(tp=8), settings, version=version)).state_blocks

    assert states("k3", B300, "0.29.0") == 9
    assert states("k3", B300, "0.28.0") == states("k3", MI355X, "0.33.0") == states("kimi-linear", B300, "0.33.0") == 6
    assert states("k3", B300, "0.33.0", False) == 3


def test_the_longest_that_so_many_sequences_can_be() -> None:
    """100 blocks of 768: alone a sequence has 94 for its tokens; four have 25 each, 19 of them for tokens."""
    block = Paging(768, 21_233_664, groups=4, state_blocks=6)
    assert block.longest(100, 1, 1) == 94 * 768
    assert block.longest(100, 4, 1) == 19 * 768
    assert block.longest(100, 4, 8) == 19 * 768 * 8
    assert block.longest(100, 17, 1) == 0
    assert block.longest(6, 1, 1) == 0


@given(st.integers(0, 5000), st.integers(1, 600), st.sampled_from([1, 2, 8]))
def test_what_is_said_to_fit_fits(blocks: int, sequences: int, dcp: int) -> None:
    block = Paging(768, 21_233_664, groups=4, state_blocks=6)
    longest = block.longest(blocks, sequences, dcp)
    if longest:
        assert sequences * block.of_request(longest, dcp) <= blocks
    assert sequences * block.of_request(longest + 1, dcp) > blocks


@pytest.mark.parametrize(
    ("version", "eager", "fits", "refused"),
    [("0.32.0", False, False, True), ("0.32.0", True, True, False), ("0.19.1", False, False, False)],
)
def test_with_cuda_graphs_a_block_for_each_sequence(version: str, eager: bool, fits: bool, refused: bool) -> None:
    """vLLM 0.20 to 0.32, config/compilation.py: "max_num_seqs exceeds available Mamba cache blocks" ends the start.
    One H200 has 30 GiB or so for Kimi-Linear, 2,000 blocks of 1,920 tokens and 7 layers. 0.19.1 has no such rule, and
    ends for want of memory: 4,096 blocks of 1,920 tokens in its workspace are 120 GiB.
    """
    h200 = device("9.0", 139.81, 143771)
    settings = Settings(max_model_len=8192, max_num_seqs=4096, max_num_batched_tokens=8192, enforce_eager=eager)
    held = memory_of(configuration("kimi-linear", h200, Layout(), settings, version=version))
    assert held.kv_bytes.high < 4096 * 7 * 1152 * 1920
    assert held.fits is fits
    assert held.sequence_room is not None
    assert ("max_num_seqs is 4,096" in held.sequence_room.refusal) is refused


def test_memory_counts_the_states_of_many_sequences() -> None:
    """A thousand sequences without a token to speak of: 512 × 7 blocks do not fit in 3,047."""
    settings = Settings(max_model_len=768, max_num_seqs=512, max_num_batched_tokens=8192, gpu_memory_utilization=0.92)
    held = memory_of(configuration("k3", MI355X, Layout(tp=8), settings, version="0.28.0"))
    assert held.sequence_room is not None
    blocks = int(held.kv_bytes.value // 21_233_664)
    assert held.state_bytes_per_sequence == 6 * 21_233_664
    assert held.concurrency_at_context.value == pytest.approx(blocks / 7)
    assert held.holds(768, blocks // 7)
    assert not held.holds(768, blocks // 7 + 1)
    assert held.reach(blocks // 6 + 1) == 0


def test_pipeline_stages_have_the_layers_of_each_group() -> None:
    """Kimi-Linear over two stages of 14 and 13 layers, which have three and four of MLA."""
    case = configuration("kimi-linear", B300, Layout(pp=2))
    groups = [(3, 7, 11, 15, 19, 23, 26)]
    kda = [layer for layer in range(27) if layer not in groups[0]]
    groups += [tuple(kda[number::3]) for number in range(3)]
    for first, end in ((0, 14), (14, 27)):
        most = max(sum(first <= layer < end for layer in group) for group in groups)
        block = paging(case, first, end)
        assert block.block_bytes == most * 1152 * block.tokens
        assert block.groups == 4


def test_sglang_splits_the_memory() -> None:
    """0.9 of a state's memory to 1 of the KV cache; of the states one is spare, and a sequence takes five."""
    case = configuration("k3", B300, Layout(tp=8), engine="sglang", version="0.5.23")
    pools = paging(case)
    kv_bytes = 30 * GIB
    states = int(kv_bytes * 0.9 / 1.9 // 56_171_520) - 1
    assert pools.pool(kv_bytes) == states
    assert pools.sequences(kv_bytes) == states // 5
    assert pools.blocks(kv_bytes) == int((kv_bytes - (states + 1) * 56_171_520) // (27_648 * pools.tokens))
    assert pools.bytes_per_token == 27_648
    assert pools.bytes_per_sequence == 5 * 56_171_520
    without = replace(case, settings=Settings(prefix_caching=False, max_num_seqs=48))
    assert paging(without).pool(kv_bytes) == 48
    assert paging(without).sequences(kv_bytes) == 48


@pytest.mark.parametrize(("layout", "ranks"), [(Layout(tp=8, ep=8), 8), (Layout(tp=4, dp=2, ep=8), 1)])
def test_where_replicas_share_the_experts_of_kimi_k3_its_other_mlps_are_whole(layout: Layout, ranks: int) -> None:
    """vLLM 0.32, models/kimi_k3/nvidia/model.py: sequence parallel with expert parallelism over replicas."""
    held = memory_of(configuration("k3", MI355X, layout, Settings(max_model_len=8192)))
    shared = next(size for component, size in held.weights.items() if component == "shared_experts")
    assert shared == 92 * 3 * 7168 * 6144 * 2 // ranks


def test_only_mla_layers_have_decode_weights_and_kv_cache() -> None:
    """W_UK and W_UV of 24 of 93 layers: 24 × 96 × 256 × 512 × 2 bytes, where the engine copies them."""
    held = memory_of(configuration("k3", MI355X, Layout(tp=8), Settings(max_model_len=8192)))
    assert "decode_weights" not in held.weights
    copied = memory_of(
        configuration("k3", MI355X, Layout(tp=8), Settings(max_model_len=8192), engine="vllm-ascend", version="0.23.0")
    )
    decode = next(size for component, size in copied.weights.items() if component == "decode_weights")
    assert decode == 24 * 96 * 256 * 512 * 2 // 8
    assert held.kv_bytes_per_token == 27_648


@pytest.mark.parametrize(("ratio", "share"), [(None, 0.9 / 1.9), (0.5, 0.5 / 1.5), (2.0, 2 / 3)])
def test_the_pool_of_states_has_the_share_that_is_asked_for(ratio: float | None, share: float) -> None:
    """SGLang 0.5.23, mem_cache/kv_cache_configurator.py: rest × ratio / (1 + ratio)."""
    case = configuration("moonshotai/Kimi-K3", B300, Layout(tp=8), Settings(state_pool_ratio=ratio), "sglang", "0.5.23")
    assert paging(case).pool_share == pytest.approx(share)
