"""Memory of what is served beside the model: drafts, adapters, the vision tower's mode, what lies in host RAM.

What is expected comes from logs and published files. A log's figure of weights counts what the allocator rounds, too:
up to 0.2 GiB.
"""

from __future__ import annotations

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.drafts import drafts, find_draft
from moonpad.plan.draft import draft_share, draft_token_bytes, draft_weights
from moonpad.values.checkpoint import Component
from moonpad.values.memory import Memory
from moonpad.values.plan import Layout, Settings
from moonpad.values.records import replace
from moonpad.values.units import GB, GIB
from tests.configurations import check, configuration, memory_of
from tests.unit.plan.test_search import THINKING, checkpoint

K25, K26 = "moonshotai/Kimi-K2.5", "moonshotai/Kimi-K2.6"
LIGHTSEEK = "lightseekorg/kimi-k2.6-eagle3-mla"
# The study of Kimi-K2.6 on 8×H200 (vLLM 0.20, June 2026) ran all of its starts with --language-model-only.
TP8 = Layout(tp=8)
TEXT = Settings(text_only=True, gpu_memory_utilization=0.6, max_num_seqs=1)
EAGLE = replace(TEXT, max_num_seqs=32, max_num_batched_tokens=4096, draft_tokens=3, draft=LIGHTSEEK)


def held(
    model: str = K26,
    settings: Settings = TEXT,
    layout: Layout = TP8,
    on: str = "8xH200",
    version: str = "0.20.0",
    engine: str = "vllm",
    measured: bool = False,
) -> Memory:
    known = calibrations() if measured else ()
    return memory_of(checkpoint(model), parse_cluster(on), engine, version, layout, settings, calibrations=known)


@pytest.mark.parametrize(
    ("logged", "memory"),
    [
        (71.16, held()),
        (71.92, held(settings=EAGLE)),
        (88.44, held(layout=Layout(dp=8, ep=8))),
        (71.07, held(THINKING, Settings(), on="8xH200", version="0.11.0")),
        (72.02, held(K25, Settings(mm_encoder_tp_mode="data"), on="8xH100", version="0.15.0")),
    ],
)
def test_weights_that_engines_logged(logged: float, memory: Memory) -> None:
    """Within 0.3 %, and never above: with W_UK and W_UV counted a second time, 88.44 would be 89.23."""
    assert logged * 0.997 < memory.weights_bytes / GIB < logged


def test_the_encoder_whole_on_each_rank() -> None:
    """471 million parameters, of which 411 million are sliced otherwise, in BF16."""
    whole, sliced = (
        held(K25, Settings(mm_encoder_tp_mode=mode)).weights[Component.VISION] for mode in ("data", "weights")
    )
    assert whole == 2 * 471_143_920
    assert whole - sliced == pytest.approx(2 * 411_300_000 * 7 / 8, rel=0.001)
    default = held(K25, Settings())
    assert default.weights[Component.VISION] == sliced
    assert default.kv_bytes.value - held(K25, Settings(mm_encoder_tp_mode="data")).kv_bytes.value == whole - sliced


@pytest.mark.parametrize(
    ("name", "bytes_"),
    [
        ("nvidia/Kimi-K2.6-Eagle3", 3.68 * GB),  # the size on its page
        (LIGHTSEEK, 5.62 * GIB - 163_840 * 7168 * 2),  # "Checkpoint size" of vLLM's log, less the shared embedding
        ("z-lab/Kimi-K2.5-DFlash", 13.9 * GB / 2),  # a conversion to FP32 is 13.9 GB
    ],
)
def test_files_of_published_drafts(name: str, bytes_: float) -> None:
    draft = find_draft(name)
    assert draft is not None
    assert draft_weights(draft.sizes, 1, 0) == pytest.approx(bytes_, rel=0.003)


def test_a_draft_takes_weights_and_a_layer_of_the_kv_cache() -> None:
    with_draft, without = held(settings=EAGLE), held(settings=replace(EAGLE, draft_tokens=0, draft=None))
    more = with_draft.weights_bytes - without.weights_bytes
    assert more / GIB == pytest.approx(71.92 - 71.16, abs=0.01)
    assert with_draft.weights[Component.DRAFT] == more
    assert with_draft.kv_bytes_per_token == 62 * 1152
    # 9.44 GiB were 141,504 tokens in the log.
    assert 9.44 * GIB / with_draft.kv_bytes_per_token == pytest.approx(141_504, rel=0.005)
    graphs = with_draft.overhead.value - without.overhead.value  # more of them, for batches four times as large
    assert without.kv_bytes.value - with_draft.kv_bytes.value == pytest.approx(more + graphs, abs=1)


def test_keys_and_values_of_plain_attention_are_sliced() -> None:
    """64 KV heads of 128: 8 on each of 8 ranks, two values each; with more ranks than heads one on each."""
    aq, dflash = drafts()["aq-medai/kimi-k25-eagle3"].sizes, drafts()["z-lab/kimi-k2.5-dflash"].sizes
    assert draft_token_bytes(aq, 8, 16) == 2 * 8 * 128 * 2
    assert draft_token_bytes(aq, 8, 8) == 2 * 8 * 128
    # Eight ranks have no head in common, so none of them can do without a token.
    assert draft_token_bytes(aq, 8, 16, 8) == 8 * 2 * 8 * 128 * 2
    assert draft_token_bytes(drafts()[LIGHTSEEK].sizes, 8, 16, 8) == 1152
    assert draft_token_bytes(dflash, 8, 16) == draft_token_bytes(dflash, 16, 16) == 6 * 2 * 128 * 2


def test_a_draft_that_is_not_known_widens_the_range() -> None:
    assumed, known = held(settings=replace(EAGLE, draft=None)), held(settings=EAGLE)
    assert assumed.weights_bytes == known.weights_bytes
    assert assumed.kv_bytes.value == known.kv_bytes.value
    assert assumed.kv_bytes.low < known.kv_bytes.low
    # AQ-MedAI's and the first of lightseekorg lie within it.
    for name in ("AQ-MedAI/Kimi-K25-eagle3", "lightseekorg/kimi-k2.5-eagle3"):
        other = held(settings=replace(EAGLE, draft=name))
        assert assumed.kv_tokens.low <= other.kv_tokens.low
        assert other.kv_tokens.high <= assumed.kv_tokens.high
    assert "draft is assumed" in assumed.overhead.because
    assert "draft" not in known.overhead.because


def test_an_engine_places_a_draft_on_the_last_stage() -> None:
    """As many stages as machines: the first one has no draft, and no layer of it."""
    two = held(settings=replace(EAGLE, gpu_memory_utilization=0.9), layout=Layout(tp=8, pp=2), on="2x8xH200")
    plain = held(settings=replace(TEXT, gpu_memory_utilization=0.9), layout=Layout(tp=8, pp=2), on="2x8xH200")
    assert two.stages[0] == plain.stages[0]
    assert (two.stages[1] - plain.stages[1]) / GIB == pytest.approx(0.76, abs=0.01)


@pytest.mark.parametrize(
    "changes",
    [
        {"draft_tokens": 3, "draft": LIGHTSEEK},
        {"max_loras": 1},
        {"cpu_offload_gib": 10.0},
    ],
)
def test_a_start_without_it_says_nothing_of_one_with_it(changes: dict[str, object]) -> None:
    """The measured start left 46.80 GiB for the KV cache; what else lies there comes out of that."""
    plain, more = Settings(), Settings(**changes)  # type: ignore[arg-type]
    before = held(THINKING, plain, version="0.11.0", measured=True)
    assert before.measured
    assert not held(THINKING, more, version="0.11.0", measured=True).measured


def test_buffers_for_adapters() -> None:
    """By hand for one adapter of rank 16 on one of eight ranks, in values a layer and unit of rank.

    Attention: q_a 7168 + 1536, q_b 1536 + 64 × 192 / 8, kv_a 7168 + 576, kv_b 512 + 64 × 256 / 8, o 64 × 128 / 8 +
    7168. Experts: router 7168 + 384, the shared one and 384 routed ones 3 × (7168 + 2048 / 8) each. Layer 0:
    3 × (7168 + 18432 / 8).
    """
    attention = 7168 + 1536 + 1536 + 1536 + 7168 + 576 + 512 + 2048 + 1024 + 7168
    experts = 7168 + 384 + 385 * 3 * (7168 + 256)
    values = 61 * attention + 60 * experts + 3 * (7168 + 2304)
    settings = Settings(max_loras=1)
    assert held(THINKING, settings).weights[Component.LORA] == values * 16 * 2
    four = held(THINKING, replace(settings, max_loras=4, max_lora_rank=32))
    assert four.weights[Component.LORA] == values * 4 * 32 * 2
    # Before 0.11.1 there were none for the routed experts.
    old = held(THINKING, settings, version="0.11.0").weights[Component.LORA]
    assert old == (values - 60 * 384 * 3 * (7168 + 256)) * 16 * 2
    # Whole experts, 48 on each rank.
    shared = held(THINKING, settings, layout=Layout(tp=8, ep=8)).weights[Component.LORA]
    assert shared == (values + 60 * 3 * (48 * (7168 + 2048) - 384 * (7168 + 256))) * 16 * 2


def test_weights_in_host_ram() -> None:
    plain, moved = held(THINKING, Settings()), held(THINKING, Settings(cpu_offload_gib=10))
    assert plain.weights_bytes - moved.weights_bytes == 10 * GIB
    assert moved.kv_bytes.value - plain.kv_bytes.value == 10 * GIB
    assert plain.host is None
    assert moved.host is not None
    assert moved.host.needed_bytes == 8 * 10 * GIB
    everything = held(THINKING, Settings(cpu_offload_gib=1000.0))
    # Embedding and lm_head are not of the layers: 2 × 163,840 × 7168 / 8 in BF16.
    assert everything.weights_bytes == 2 * 163_840 * 7168 * 2 // 8
    assert everything.host is not None
    assert everything.host.needed_bytes == 8 * (plain.weights_bytes - everything.weights_bytes)


def test_a_copy_of_the_kv_cache_in_host_ram() -> None:
    """Of vLLM so many GiB of each replica, of SGLang 10^9 bytes of each rank or a multiple of the devices'."""
    plain = held(THINKING, Settings())
    copied = held(THINKING, Settings(kv_offload_size=200))
    assert (copied.weights_bytes, copied.kv_bytes) == (plain.weights_bytes, plain.kv_bytes)
    assert copied.host is not None
    assert copied.host.needed_bytes == 200 * GIB
    replicas = held(THINKING, Settings(kv_offload_size=200), layout=Layout(dp=8, ep=8)).host
    assert replicas is not None
    assert replicas.needed_bytes == 8 * 200 * GIB
    two = held(THINKING, Settings(kv_offload_size=200), layout=Layout(tp=8, pp=2), on="2x8xH200").host
    assert two is not None
    assert two.needed_bytes == 100 * GIB
    sized = held(THINKING, Settings(kv_offload_size=50), engine="sglang", version="0.5.10").host
    assert sized is not None
    assert sized.needed_bytes == 8 * 50 * GB
    doubled = held(THINKING, Settings(kv_offload_ratio=2), engine="sglang", version="0.5.10")
    assert doubled.host is not None
    assert doubled.host.needed_bytes == pytest.approx(8 * 2 * doubled.kv_bytes.value, abs=1)


def test_a_host_that_is_too_small() -> None:
    cluster = parse_cluster("8xH200")
    small = replace(cluster, host=replace(cluster.host, memory_bytes=64 * GIB))
    settings = Settings(cpu_offload_gib=10.0, max_model_len=32768)
    memory = memory_of(checkpoint(THINKING), small, "vllm", "0.20.0", Layout(tp=8), settings)
    assert not memory.fits
    assert memory_of(
        checkpoint(THINKING), small, "vllm", "0.20.0", Layout(tp=8), replace(settings, cpu_offload_gib=7.0)
    ).fits


def test_which_engines_copy_kv_b() -> None:
    """vLLM transposes views of a BF16 kv_b, and unpacks one in FP8; SGLang makes both contiguous."""
    copy = 61 * 64 * 256 * 512 * 2 // 8
    assert Component.DECODE_WEIGHTS not in held(THINKING).weights
    assert held("moonshotai/Kimi-K2-Instruct", Settings()).weights[Component.DECODE_WEIGHTS] == copy
    for engine in ("sglang", "tensorrt-llm"):
        assert held(THINKING, Settings(), engine=engine, version="").weights[Component.DECODE_WEIGHTS] == copy


def test_every_verb_says_that_a_draft_is_assumed() -> None:
    """By a rule, which the one judge asks for all of them."""
    settings = replace(EAGLE, draft=None)
    model, cluster = checkpoint(K26), parse_cluster("8xH200")
    findings = check(model, cluster, "vllm", "0.20.0", Layout(tp=8), settings)
    share = draft_share(configuration(model, cluster, "vllm", "0.20.0", Layout(tp=8), settings), 16)
    assert share.because in [finding.message for finding in findings if finding.where == "draft"]


@pytest.mark.parametrize(
    ("path", "id_"),
    [
        ("/models/kimi-k2.6-eagle3-mla/", LIGHTSEEK),
        ("/data/huggingface/hub/models--lightseekorg--kimi-k2.6-eagle3-mla/snapshots/0123/", LIGHTSEEK),
        ("LIGHTSEEKORG/Kimi-K2.5-Eagle3-MLA", LIGHTSEEK),
        ("nvidia/Kimi-K2.6-Eagle3", "nvidia/Kimi-K2.6-Eagle3"),
        ("lightseekorg/kimi-k2.6-eagle3", "lightseekorg/kimi-k2.5-eagle3"),
        ("kimi-k2.6-eagle3", None),  # two have that name, and are not alike
        ("/models/draft", None),
        ("", None),
    ],
)
def test_a_draft_by_its_name_or_folder(path: str, id_: str | None) -> None:
    draft = find_draft(path)
    assert (draft.id if draft else None) == id_
