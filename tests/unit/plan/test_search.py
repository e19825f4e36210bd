"""The planner against figures that others logged or that are counted by hand; nothing of it is asked of the planner."""

from __future__ import annotations

from functools import cache

import pytest

from moonpad.catalog.calibrations import calibrations
from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import find_model
from moonpad.catalog.published import published
from moonpad.engines import ENGINES
from moonpad.plan.request import Request, parse_set
from moonpad.plan.search import Known, search
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Host
from moonpad.values.deployment import Executable
from moonpad.values.errors import UsageError
from moonpad.values.finding import Code
from moonpad.values.plan import Layout
from moonpad.values.plan_answer import Answer, Choice
from moonpad.values.records import replace
from moonpad.values.units import GIB

KNOWN = Known(lambda engine: "", calibrations(), published(), code_in_checkpoint=True)
THINKING, INSTRUCT = "moonshotai/Kimi-K2-Thinking", "moonshotai/Kimi-K2-Instruct"


@cache
def checkpoint(model: str) -> Checkpoint:
    known_model = find_model(model)
    assert known_model is not None
    return catalog_checkpoint(known_model)


def plan(model: str, on: str, *words: str, **options: object) -> Answer:
    layout, settings = parse_set(words)
    request = Request(layout=layout, settings=settings, **options)  # type: ignore[arg-type]
    return search(checkpoint(model), parse_cluster(on), request, KNOWN)


def vllm_0_11(model: str, on: str, *words: str, **options: object) -> Answer:
    return plan(model, on, *words, engine="vllm", engine_version="0.11", **options)


def with_layout(answer: Answer, layout: Layout, engine: str = "vllm") -> Choice:
    (matching,) = [choice for choice in answer.choices if (choice.plan.engine, choice.plan.layout) == (engine, layout)]
    return matching


# The log of the vLLM recipe: 46.80 GiB, 715,072 tokens; with DCP 8 5,721,088 (memory.md).


def test_thinking_on_8xh200_for_latency() -> None:
    best = vllm_0_11(THINKING, "8xH200").choices[0]
    assert best.plan.layout == Layout(tp=8)
    assert best.confidence == "measured"
    assert round(best.memory.kv_bytes.value / GIB, 2) == 46.80
    assert best.memory.kv_tokens.value == 715_072
    assert best.memory.max_context.value == best.plan.settings.max_model_len == 262_144
    settings = best.plan.settings
    assert (settings.max_num_seqs, settings.max_num_batched_tokens, settings.gpu_memory_utilization) == (
        1024,
        8192,
        0.9,
    )


@pytest.mark.parametrize("goal", ["throughput", "context"])
def test_thinking_on_8xh200_for_throughput_and_context(goal: str) -> None:
    best = vllm_0_11(THINKING, "8xH200", goal=goal).choices[0]
    assert best.plan.layout == Layout(tp=8, dcp=8)
    assert best.confidence == "measured"
    assert best.memory.kv_tokens.value == 5_721_088


def test_no_version_is_the_newest_and_no_measurement() -> None:
    best = plan(THINKING, "8xH200").choices[0]
    assert (best.plan.engine, best.plan.layout, best.confidence) == ("vllm", Layout(tp=8), "sure")
    # With the sampler of today's releases more is left than the 46.80 GiB of November 2025.
    assert best.memory.kv_bytes.low / GIB > 46.80
    assert any("46.80 GiB" in reason and "not a measurement" in reason for reason in best.reasons)


# Seed 0: 12k tokens at 0.95, eager, 4096 batched tokens, one sequence; 32,768 tokens need 2.14 GiB, 0.86 GiB is there.


def test_thinking_on_8xh100_needs_reduced_settings() -> None:
    answer = vllm_0_11(THINKING, "8xH100")
    best = with_layout(answer, Layout(tp=8))
    assert best is answer.choices[0]
    settings = best.plan.settings
    assert (settings.max_num_seqs, settings.max_num_batched_tokens) == (1, 4096)
    assert (settings.gpu_memory_utilization, settings.enforce_eager) == (0.95, True)
    assert best.confidence == "measured"
    assert settings.max_model_len == 12_288
    assert 13_100 <= best.memory.max_context.value < 13_200
    wide = with_layout(answer, Layout(tp=8, dcp=8))
    assert wide.confidence == "likely"
    assert 7.5 <= wide.memory.kv_tokens.value / best.memory.kv_tokens.value <= 8.5
    assert any("not measured" in reason for reason in wide.reasons)


def test_what_seed_0_could_not_run_is_refused_with_its_numbers() -> None:
    answer = vllm_0_11(THINKING, "8xH100", "tp=8", "dcp=1", context=32_768)
    assert not answer.fits
    (refused,) = answer.refused
    assert replace(refused.layout, ep=1) == Layout(tp=8)
    (finding,) = refused.findings
    assert finding.code is Code.DOES_NOT_FIT
    assert "32,768 tokens need 2.14 GiB of KV cache on each device, 0.86 GiB is left" in finding.message
    assert "--context 12288" in finding.remedy
    assert "--set dcp=8" in finding.remedy
    assert "--on 2x8xH100" in finding.remedy


def test_every_way_out_that_a_refusal_names_fits() -> None:
    request = {"context": 32_768}
    assert vllm_0_11(THINKING, "8xH100", "tp=8", "dcp=1", context=12_288).fits
    assert vllm_0_11(THINKING, "8xH100", "tp=8", "dcp=8", **request).fits
    assert vllm_0_11(THINKING, "2x8xH100", **request).fits


def test_seed_0s_own_settings() -> None:
    words = (
        "tp=8",
        "max_num_seqs=1",
        "max_num_batched_tokens=4096",
        "gpu_memory_utilization=0.95",
        "enforce_eager=true",
    )
    (choice,) = vllm_0_11(THINKING, "8xH100", *words, "dcp=1", "ep=1", context=12_288).choices
    assert choice.confidence == "measured"
    assert not vllm_0_11(THINKING, "8xH100", *words, "dcp=1", context=262_144).fits


# Seed 1: FP8 on two machines; its DP16+EP16 line at 0.85 is for H200, not for the H800 that it stands under.


def test_instruct_on_two_machines() -> None:
    answer = plan(INSTRUCT, "2x8xH200", every_layout=True)
    tensor = with_layout(answer, Layout(tp=16))
    experts = with_layout(answer, Layout(dp=16, ep=16))
    assert abs(tensor.memory.weights_bytes / GIB / 61.06 - 1) < 0.005
    assert abs(experts.memory.weights_bytes / GIB / 73.29 - 1) < 0.005
    assert tensor.plan.nodes == experts.plan.nodes == 2


def test_without_all_both_stand_there_too() -> None:
    layouts = {choice.plan.layout for choice in plan(INSTRUCT, "2x8xH200").choices if choice.plan.engine == "vllm"}
    assert {Layout(tp=16), Layout(dp=16, ep=16), Layout(tp=8, pp=2)} <= layouts


def test_dp16_ep16_at_085_on_h800_is_refused_with_the_numbers() -> None:
    answer = plan(INSTRUCT, "2x8xH800", "dp=16", "ep=16", "gpu_memory_utilization=0.85", engine="vllm")
    assert not answer.fits
    message = answer.refused[0].findings[0].message
    assert "73.29 GiB" in message  # the weights, memory.md
    assert "67.30 GiB" in message  # 0.85 × 79.18 GiB


def test_fp8_weights_leave_little_on_one_machine_of_h200() -> None:
    answer = plan(
        INSTRUCT, "8xH200", "tp=8", "pp=1", "dp=1", "gpu_memory_utilization=0.9", engine="vllm", context=131_072
    )
    assert not answer.fits or answer.choices[0].confidence == "tight" or answer.choices[0].plan.layout.dcp > 1
    memory = answer.choices[0].memory if answer.fits else answer.refused[0].memory
    assert memory is not None
    assert abs(memory.weights_bytes / GIB / 120.95 - 1) < 0.005


# Other hardware.


def test_small_cards_take_ktransformers_and_host_ram() -> None:
    answer = plan(THINKING, "4xRTX4090-48G")
    best = answer.choices[0]
    assert {choice.plan.engine for choice in answer.choices} == {"ktransformers"}
    # 384 − 30 experts of 60 layers: 570.76 GB × 354/384 = 490 GiB, and what the documentation asks for beside.
    assert best.plan.settings.gpu_experts == 30
    assert best.memory.host is not None
    assert best.memory.host.needed_bytes > 490 * GIB
    assert [finding for finding in best.findings if finding.where == "host memory"]
    assert {refusal.engine for refusal in answer.refused} >= {"vllm", "sglang"}
    assert [finding for finding in best.findings if finding.where == "--kt-cpuinfer"]


def test_the_cores_of_a_known_host_serve_the_experts() -> None:
    cluster = replace(parse_cluster("4xRTX4090-48G"), host=Host(memory_bytes=1 << 40, cores=96))
    best = search(checkpoint(THINKING), cluster, Request(engine="ktransformers"), KNOWN).choices[0]
    assert best.plan.host_cores == 96
    assert not [finding for finding in best.findings if finding.where == "--kt-cpuinfer"]


def test_host_ram_that_is_too_small_is_refused() -> None:
    cluster = replace(parse_cluster("4xRTX4090-48G"), host=Host(memory_bytes=256 * GIB))
    answer = search(checkpoint(THINKING), cluster, Request(engine="ktransformers"), KNOWN)
    assert not answer.fits
    assert "256.00 GiB" in answer.refused[0].findings[0].message


def test_ascend() -> None:
    best = plan(THINKING, "16xA3").choices[0]
    assert (best.plan.engine, best.plan.layout.tp) == ("vllm-ascend", 16)
    assert abs(best.memory.weights_bytes / GIB / 36.55 - 1) < 0.005
    assert best.references  # the vLLM-Ascend documentation measured this machine


def test_amd() -> None:
    answer = plan(THINKING, "8xMI300X")
    assert (answer.choices[0].plan.engine, answer.choices[0].plan.layout) == ("vllm", Layout(tp=8))


def test_a_processor_cannot_hold_int4() -> None:
    answer = plan(THINKING, "cpu")
    assert not answer.fits
    assert answer.refused[0].engine == "vllm-cpu"


# What holds for every answer.


@pytest.mark.parametrize("goal", ["latency", "throughput", "context"])
@pytest.mark.parametrize(("model", "on"), [(THINKING, "8xH100"), (INSTRUCT, "2x8xH800"), (THINKING, "16xA3")])
def test_every_choice_can_be_started_and_holds_what_it_says(goal: str, model: str, on: str) -> None:
    answer = plan(model, on, goal=goal)
    assert answer.choices
    for choice in answer.choices:
        plan_, memory = choice.plan, choice.memory
        assert ENGINES[plan_.engine].processes(plan_, Executable(("engine",))).processes
        assert memory.fits
        assert plan_.settings.max_model_len == memory.context
        assert memory.context % 1024 == 0
        assert memory.context <= checkpoint(model).architecture.max_context
        if choice.confidence != "tight":
            assert memory.max_context.value >= memory.context
        assert choice.reasons
        assert not any(finding.severity == "error" for finding in choice.findings)


def test_concurrency_counts() -> None:
    alone = vllm_0_11(THINKING, "8xH200", "tp=8", "dcp=1", "ep=1").choices[0]
    fixed = ("max_num_seqs=1024", "max_num_batched_tokens=8192", "gpu_memory_utilization=0.9", "enforce_eager=false")
    many = vllm_0_11(THINKING, "8xH200", "tp=8", "dcp=1", "ep=1", *fixed, concurrency=16).choices[0]
    turned_down = vllm_0_11(THINKING, "8xH200", "tp=8", "dcp=1", "ep=1", concurrency=16).choices[0]
    assert alone.memory.context == 262_144
    assert many.memory.context == 715_072 // 16 // 1024 * 1024 == 44_032
    assert turned_down.memory.context > many.memory.context
    refused = vllm_0_11(THINKING, "8xH200", "tp=8", "dcp=1", "ep=1", concurrency=16, context=262_144)
    assert "16 sequences of 262,144 tokens" in refused.refused[0].findings[0].message


def test_what_is_fixed_is_never_turned_down() -> None:
    answer = plan(THINKING, "8xH100", "tp=8", "dcp=1", "max_num_seqs=512", "enforce_eager=false", engine="vllm")
    for memory_of in (answer.choices, answer.refused):
        for candidate in memory_of:
            if isinstance(candidate, Choice):
                assert (candidate.plan.settings.max_num_seqs, candidate.plan.settings.enforce_eager) == (512, False)


def test_fp8_kv_comes_unasked_for_context_only() -> None:
    def dtypes(goal: str) -> set[str | None]:
        return {
            choice.plan.settings.kv_cache_dtype for choice in plan(THINKING, "8xH100", goal=goal, engine="vllm").choices
        }

    assert dtypes("latency") == {None}
    assert "fp8" in dtypes("context")


def test_an_illegal_layout_is_refused_by_its_rule() -> None:
    answer = plan(THINKING, "8xH200", "tp=3", engine="vllm")
    assert not answer.fits
    assert "64 attention heads" in answer.refused[0].findings[0].message


def test_a_context_beyond_the_models_own_is_refused_by_its_rule() -> None:
    answer = plan(INSTRUCT, "2x8xH200", context=262_144, engine="vllm")
    assert not answer.fits
    assert "131,072" in answer.refused[0].findings[0].message


def test_an_engine_of_other_hardware_is_refused() -> None:
    answer = plan(THINKING, "8xH200", engine="vllm-ascend")
    assert not answer.fits
    assert answer.refused[0].findings[0].code is Code.PLATFORM_UNSUPPORTED


def test_an_engine_that_is_none() -> None:
    with pytest.raises(UsageError, match="there is no engine"):
        plan(THINKING, "8xH200", engine="ollama")


def test_all_lists_every_legal_layout_and_what_misses() -> None:
    few, all_ = plan(THINKING, "8xH100", engine="vllm"), plan(THINKING, "8xH100", engine="vllm", every_layout=True)
    assert len(all_.choices) + len(all_.refused) > len(few.choices) + len(few.refused)
    assert {choice.plan.layout for choice in few.choices} <= {choice.plan.layout for choice in all_.choices}
    assert all(refusal.memory is not None for refusal in all_.refused)
    # Hopper holds 71 GiB of weights on each of eight: without TP nothing that replicates attention fits beside them.
    assert any(refusal.layout.dp == 8 for refusal in all_.refused)


def test_a_draft_that_is_not_known_is_assumed_and_that_is_said() -> None:
    best = plan(THINKING, "8xH200", "draft_tokens=3", engine="vllm").choices[0]
    assert best.plan.settings.draft_tokens == 3
    assert [finding.where for finding in best.findings if "draft" in finding.message] == ["draft"]
    for words in ((), ("draft_tokens=3", "draft=kimi-k2.6-eagle3-mla")):
        named = plan(THINKING, "8xH200", *words, engine="vllm").choices[0]
        assert not [finding for finding in named.findings if "draft" in finding.message]


def test_a_draft_that_is_named_proposes() -> None:
    best = plan(THINKING, "8xH200", "draft=kimi-k2.6-eagle3-mla", engine="vllm").choices[0]
    assert (best.plan.settings.draft_tokens, best.plan.settings.draft) == (3, "lightseekorg/kimi-k2.6-eagle3-mla")
    with pytest.raises(UsageError, match="not a draft") as refused:
        plan(THINKING, "8xH200", "draft=kimi-k2.6-eagle3-ml", engine="vllm")
    assert "kimi-k2.6-eagle3-mla" in refused.value.remedy
