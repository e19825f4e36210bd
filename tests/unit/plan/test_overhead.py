"""The model of the overhead against starts that others published, and its parts against arithmetic of our own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.catalog.device_overhead import Spread
from moonpad.plan.activations import Activations, activations_of
from moonpad.plan.effective_settings import Limits
from moonpad.plan.effective_settings import limits_of as limits_in_force
from moonpad.plan.overhead import (
    EXPERTS,
    FORWARD,
    GRAPHS,
    SAMPLER,
    UNUSED,
    Modelled,
    captured_sizes,
    free_overhead,
    modelled_overhead,
    outside_demand,
    static_overhead,
)
from moonpad.values.checkpoint import Architecture, Checkpoint, Quantization
from moonpad.values.cluster import Cluster, Device
from moonpad.values.configuration import Configuration
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from moonpad.values.units import GIB
from tests.configurations import configuration
from tests.unit.plan.known import FP8, H100, H200, INT4, K2, RTX_PRO_6000

TP8 = Layout(tp=8)
DEFAULTS_H200 = Settings(max_num_seqs=1024, max_num_batched_tokens=8192)
EAGER_H100 = Settings(max_num_seqs=1, max_num_batched_tokens=4096, enforce_eager=True, gpu_memory_utilization=0.95)
R1 = replace(K2, heads=128, routed_experts=256, vocabulary=129_280)


def case(
    device: Device,
    settings: Settings,
    version: str = "0.32.0",
    layout: Layout = TP8,
    engine: str = "vllm",
    architecture: Architecture = K2,
    quantization: Quantization = INT4,
    devices: int = 8,
) -> tuple[Configuration, Limits]:
    checkpoint = Checkpoint("k2", architecture, quantization, (), "test", 594_205_918_560)
    of = configuration(checkpoint, Cluster(device.id, 1, devices, device), engine, version, layout, settings)
    return of, limits_in_force(of)


def modelled(device: Device, settings: Settings, version: str = "0.32.0", **more: object) -> Modelled:
    return modelled_overhead(*case(device, settings, version, **more))  # type: ignore[arg-type]


DRAFT = Settings(max_num_seqs=32, max_num_batched_tokens=4096, draft_tokens=3)
FEW = Settings(max_num_seqs=128, max_num_batched_tokens=8192)


@pytest.mark.parametrize(
    ("device", "version", "settings", "layout", "architecture", "quantization", "seen_gib"),
    [
        # The budget less the weights and the KV cache that the log of each start names: benchmarks/memory/starts.csv.
        (H100, "0.11.1", EAGER_H100, TP8, K2, INT4, 0.95 * 79.18 - 70.95 - 0.86),
        (H200, "0.11.1", DEFAULTS_H200, TP8, K2, INT4, 0.90 * 139.81 - 70.95 - 46.80),
        (H100, "0.15.0", replace(FEW, max_num_seqs=64), TP8, K2, INT4, 0.95 * 79.18 - 72.02 - 0.64),
        (H200, "0.18.0", DEFAULTS_H200, TP8, K2, INT4, 0.92 * 139.81 - 72.02 - 51.63),
        (H200, "0.20.0", replace(FEW, max_num_seqs=1), TP8, K2, INT4, 0.6 * 139.81 - 71.16 - 9.84),
        (H200, "0.20.0", DRAFT, TP8, K2, INT4, 0.6 * 139.81 - 71.92 - 9.44),
        (H200, "0.20.0", replace(FEW, max_num_seqs=1), Layout(dp=8, ep=8), K2, INT4, 0.6 * 139.81 - 88.44 + 19.08),
        (H200, "0.11.0", DEFAULTS_H200, TP8, R1, FP8, 0.92 * 139.81 - 79.58 - 46.23),
        (H200, "0.11.2", DEFAULTS_H200, TP8, R1, FP8, 0.92 * 139.81 - 79.74 - 41.60),
        (H200, "0.13.0", DEFAULTS_H200, TP8, R1, FP8, 0.92 * 139.81 - 79.74 - 43.12),
        (H200, "0.14.1", DEFAULTS_H200, TP8, R1, FP8, 0.92 * 139.81 - 79.74 - 41.43),
        (H200, "0.16.0", DEFAULTS_H200, TP8, R1, FP8, 0.92 * 139.81 - 79.74 - 43.07),
        (H200, "0.19.0", DEFAULTS_H200, TP8, R1, FP8, 0.92 * 139.81 - 79.74 - 42.79),
        (H200, "0.20.0", DEFAULTS_H200, TP8, R1, FP8, 0.92 * 139.81 - 79.74 - 41.24),
    ],
)
def test_published_starts_lie_in_the_range(
    device: Device,
    version: str,
    settings: Settings,
    layout: Layout,
    architecture: Architecture,
    quantization: Quantization,
    seen_gib: float,
) -> None:
    more = {"layout": layout, "architecture": architecture, "quantization": quantization}
    total = modelled(device, settings, version, **more).total.times(1 / GIB)
    assert total.low <= seen_gib <= total.high, total
    assert total.high - total.low < (12 if layout.dp > 1 else 7)


def test_the_buffers_of_a_forward_pass() -> None:
    """8,192 tokens: 4 copies of 7,168 values; 8 experts a token, each 7,168 wide and 256 of its 2,048 on a rank of 8;
    kv_b of 64k tokens for 8 heads of 128 + 128. Since 0.26 both buffers of the experts are as wide as the output, and
    stay beside kv_b's."""
    streams, attention = 4 * 8192 * 7168 * 2, 65_536 * 8 * 256 * 2
    before = activations_of(*case(H200, FEW, "0.25.0"))
    assert before == Activations(streams=streams, experts=8192 * 8 * (7168 + 256) * 2, attention=attention)
    assert before.peak == streams + before.experts
    now = activations_of(*case(H200, FEW, "0.26.0"))
    assert now == Activations(streams=streams, experts=8192 * 8 * (7168 + 7168) * 2, attention=attention, kept=True)
    assert now.peak == streams + now.experts + attention


@pytest.mark.parametrize(
    ("layers", "heads", "experts", "tokens", "logged_gib"),
    [(61, 8, 256, 8192, 2.6), (6, 64, 2048, 8192, 4.21), (6, 64, 2048, 32_768, 11.41)],
)
def test_the_peaks_that_an_h200_logged(layers: int, heads: int, experts: int, tokens: int, logged_gib: float) -> None:
    """vLLM 0.26.0 on one device, `here-…` in benchmarks/memory/starts.csv."""
    settings = replace(FEW, max_num_batched_tokens=tokens, max_num_seqs=256, max_model_len=16_384)
    configuration, limits = case(H200, settings, "0.26.0", layout=Layout())
    shape = replace(configuration.architecture, layers=layers, heads=heads, moe_intermediate=experts)
    checkpoint = replace(configuration.checkpoint, architecture=shape)
    peak_gib = activations_of(replace(configuration, checkpoint=checkpoint), limits).peak / GIB
    assert peak_gib == pytest.approx(logged_gib, rel=0.07)


def test_data_parallel_ranks_gather_the_tokens_of_all() -> None:
    """65,536 tokens, whole experts of 2,048, and the gathered inputs and outputs beside them: vLLM's own way. On Ascend
    each token goes to the ranks of its experts."""
    spread = Layout(dp=8, ep=8)
    assert (
        activations_of(*case(H200, FEW, layout=spread)).experts == (65_536 * 8 * (7168 + 2048) + 2 * 65_536 * 7168) * 2
    )
    ascend = activations_of(*case(H200, FEW, "0.20.2", layout=spread, engine="vllm-ascend"))
    assert ascend.experts == 8192 * 8 * (7168 + 2048) * 2


def test_kernels_that_dispatch_bring_the_tokens_of_a_rank_s_experts() -> None:
    """As many rows as the rank has of its own, each token once for all of its experts; the range reaches to all tokens
    on one rank. What FlashInfer exchanges lies in buffers for the tokens of all ranks."""
    spread = Layout(dp=32, ep=32)
    deepep = replace(FEW, all2all_backend="deepep_high_throughput")
    of = case(H200, deepep, layout=spread)
    assert activations_of(*of).experts == (8192 * 8 * (7168 + 2048) + 2 * 8192 * 8 * 7168) * 2
    dispatched, gathered = modelled_overhead(*of).total, modelled_overhead(*case(H200, FEW, layout=spread)).total
    assert dispatched.low < dispatched.value < gathered.low
    assert dispatched.high == pytest.approx(gathered.high, rel=0.01)
    flashinfer = replace(FEW, all2all_backend="flashinfer_nvlink_one_sided")
    assert modelled_overhead(*case(H200, flashinfer, layout=spread)).total == gathered


@pytest.mark.parametrize(("version", "at_once"), [("0.11.0", 32_768), ("0.16.0", 16_384), ("0.32.0", 65_536)])
def test_experts_in_fp8_take_their_tokens_in_chunks(version: str, at_once: int) -> None:
    """wheels: VLLM_FUSED_MOE_CHUNK_SIZE is 32,768 in 0.11.0, 16,384 from 0.12.0 to 0.17.1 and gone in 0.19.1."""
    of = case(H200, FEW, version, layout=Layout(dp=8, ep=8), quantization=FP8)
    assert activations_of(*of).experts == 2 * (at_once * 8 * (7168 + 2048) + 2 * 65_536 * 7168)


def test_a_short_context_needs_a_small_workspace() -> None:
    """Eight contexts of 2,048 tokens."""
    few = replace(FEW, max_model_len=2048, max_num_seqs=1)
    assert activations_of(*case(H200, few)).attention == 8 * 2048 * 8 * 256 * 2


@pytest.mark.parametrize(("version", "bytes_"), [("0.12.0", 40), ("0.18.0", 24.5), ("0.25.0", 14)])
def test_the_sampler_decides_with_many_sequences_and_the_forward_pass_with_few(version: str, bytes_: float) -> None:
    """By release, for each of 1,024 sequences and 163,840 words."""
    many = modelled(H200, DEFAULTS_H200, version).parts
    few = modelled(H200, replace(DEFAULTS_H200, max_num_seqs=16), version).parts
    assert many[SAMPLER] == pytest.approx(1024 * 163_840 * bytes_)
    assert FORWARD not in many
    assert few[FORWARD] == pytest.approx(8192 * 2 * (4 * 7168 + 8 * 7424))
    assert SAMPLER not in few


def test_graphs_count_since_0_20_unless_eager() -> None:
    assert GRAPHS not in modelled(H200, DEFAULTS_H200, "0.19.1").parts
    assert GRAPHS in modelled(H200, DEFAULTS_H200, "0.20.0").parts
    assert GRAPHS not in modelled(H200, replace(DEFAULTS_H200, enforce_eager=True), "0.20.0").parts


@pytest.mark.parametrize("sequences", [1, 2, 5, 16, 100, 128, 255, 256, 1024])
@pytest.mark.parametrize("draft_tokens", [0, 3])
def test_captured_sizes(sequences: int, draft_tokens: int) -> None:
    largest = min(2 * sequences * (1 + draft_tokens), 512)
    sizes = [size for size in (1, 2, 4, *range(8, 256, 8), *range(256, 513, 16)) if size <= largest]
    assert captured_sizes(sequences, draft_tokens, 8192) == len(sizes)


def test_graphs_may_take_far_more_without_fast_links() -> None:
    """On 8xRTX-PRO-6000 a draft with DCP 8 left 7.45 GiB of 15.6 without (benchmarks/memory/starts.csv, facts-08)."""
    draft = replace(FEW, draft_tokens=3)
    wide = modelled(RTX_PRO_6000, draft, "0.20.0", layout=Layout(tp=8, dcp=8)).total
    narrow = modelled(H200, draft, "0.20.0").total
    assert wide.high - narrow.high > 6 * GIB
    assert wide.low == pytest.approx(narrow.low)


def test_the_parts_add_up() -> None:
    for version in ("0.11.0", "0.18.0", "0.32.0"):
        for settings in (DEFAULTS_H200, EAGER_H100):
            overhead = modelled(H200, settings, version, layout=Layout(tp=4, dp=2, ep=8))
            assert sum(overhead.parts.values()) == pytest.approx(overhead.total.value)


def test_what_varies_independently_adds_in_squares() -> None:
    assert Spread(10, 7, 14).plus(Spread(5, 1, 8)) == Spread(15, 10, 20)
    assert Spread(10, 7, 14).together(Spread(5, 1, 8)) == Spread(15, 8, 22)


def test_only_the_last_stage_samples() -> None:
    assert SAMPLER not in modelled_overhead(*case(H200, DEFAULTS_H200, "0.11.0"), samples=False).parts


def test_shared_experts_and_nodes_widen_the_range_upwards() -> None:
    base = modelled(H200, FEW)
    spread = modelled(H200, FEW, layout=Layout(tp=4, dp=2, ep=8))
    assert EXPERTS in spread.parts
    assert spread.total.high - spread.total.value > base.total.high - base.total.value
    assert EXPERTS not in modelled(H200, FEW, layout=Layout(tp=8, ep=8)).parts
    assert modelled(H200, FEW, layout=Layout(tp=16)).total.high > base.total.high


def test_what_must_find_room_outside_of_the_fraction() -> None:
    """CUDA and NCCL always; graphs where the engine does not count them; SGLang runs there."""
    counted = outside_demand(*case(H200, FEW, "0.32.0"))
    assert 1.0 * GIB < counted.value < 2.0 * GIB
    assert outside_demand(*case(H200, FEW, "0.19.0")).value > counted.value + 0.5 * GIB
    assert outside_demand(*case(H200, replace(FEW, enforce_eager=True), "0.19.0")) == counted
    draft = outside_demand(*case(RTX_PRO_6000, replace(FEW, draft_tokens=3), layout=Layout(tp=8, dcp=8)))
    assert draft.value < 0.12 * RTX_PRO_6000.usable_bytes  # 0.88 works
    assert draft.high > 0.10 * RTX_PRO_6000.usable_bytes  # 0.90 ran out of memory at the first decode
    sglang = outside_demand(*case(H200, Settings(), "0.5.23", engine="sglang"))
    assert sglang.value > 8192 * 2 * (4 * 7168 + 8 * 7424)


def test_sglang_takes_its_fraction_of_what_is_free() -> None:
    """At 0.88 only that part of the 1.7 GiB context comes out of the static memory."""
    given_fraction = case(H200, Settings(gpu_memory_utilization=0.88), "0.5.23", engine="sglang")
    chosen = case(H200, Settings(), "0.5.23", engine="sglang")
    assert static_overhead(*given_fraction).total.value == pytest.approx(0.88 * 1.7 * GIB)
    assert not given_fraction[1].chosen
    assert chosen[1].chosen
    widths = [(total := static_overhead(*each).total).high - total.low for each in (given_fraction, chosen)]
    assert widths[1] > widths[0]


def test_a_log_of_sglang_on_an_h200() -> None:
    """SemiAnalysisAI/InferenceX#2128: weights of 125.65 GiB at 0.88 leave nothing; 0.9113 is the least that does."""

    def left(fraction: float) -> float:
        of = case(H200, Settings(gpu_memory_utilization=fraction), "0.5.23", engine="sglang")
        return fraction * 139.80 - 125.65 - static_overhead(*of).total.value / GIB

    assert left(0.88) < 0
    assert left(0.9113) == pytest.approx(0, abs=0.5)


def test_tensorrt_llm_leaves_a_tenth_of_what_is_free() -> None:
    of, limits = case(H200, Settings(), "1.2", engine="tensorrt-llm")
    active = modelled_overhead(of, limits)
    weights, device = round(71.07 * GIB), H200.usable_bytes
    whole = free_overhead(active, limits, device, weights)
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
