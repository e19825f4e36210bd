"""Warnings that the text itself contradicts: what it measured has run, what it hides is not compared."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask, ask_one, at, found

# --- memory ---

_LARGE = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code --tensor-parallel-size 4"


@pytest.mark.parametrize(
    ("sentence", "severity"),
    [("", Severity.WARNING), ("Output throughput is 17.8% better than before.", Severity.NOTE)],
)
def test_what_was_measured_had_devices_that_hold_it(sentence: str, severity: Severity) -> None:
    (finding,) = found(f"```\n{_LARGE}\n```\n\n{sentence}\n", "each of 4 devices gets")
    assert finding.severity is severity


def test_threads_are_counted_once() -> None:
    text = (
        "2 sockets with 24 cores each, 48 physical cores\n\n```\npython3 -m sglang.launch_server "
        "--model /m/Kimi-K2-Thinking --kt-weight-path /m/w --kt-method AMXINT4 --kt-cpuinfer 88\n```\n"
    )
    assert len([each for each in found(text, "--kt-cpuinfer") if "cores" in each.message]) == 1


# --- addresses ---

_NODE = "python3 -m sglang.launch_server --model-path /m/R1 --tp 16 --nnodes 2 --node-rank {rank} --dist-init-addr {at}"


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("10.0.0.1:5000", "10.0.0.2:5000", True),
        ("xx.yy.zz.210:25000", "xx.yy.zz..210:25000", False),
        ("x.x.x.1:5000", "x.x.x.2:5000", False),
        ("node-a:5000", "node-b:5000", True),
        ("nx.example:5000", "ny.example:5000", True),
    ],
)
def test_hidden_addresses_are_not_compared(first: str, second: str, told: bool) -> None:
    text = "\n".join(_NODE.format(rank=rank, at=address) for rank, address in enumerate((first, second)))
    assert bool(found(text, "they do not find each other")) is told


# --- containers and Ray ---

_ARGS = (
    "--quantization ascend --trust-remote-code --tool-call-parser kimi_k2 --tensor-parallel-size=16 "
    "--enable-expert-parallel --max-model-len 32768"
)


def test_arguments_beside_an_image_are_no_command_of_a_container() -> None:
    text = f"image: quay.io/ascend/vllm-ascend:v0.17.0rc1\n910B, two machines over Ray, Kimi-K2.5-W4A8\nargs: {_ARGS}\n"
    assert not found(text, "starts no server by itself")


def test_docker_runs_the_option_as_a_program() -> None:
    assert found(f"docker run quay.io/ascend/vllm-ascend:v0.17.0rc1 {_ARGS}\n", "starts no server by itself")


_TWO_NODES = "vllm serve deepseek-ai/DeepSeek-R1 --tensor-parallel-size 8 --pipeline-parallel-size 2"


def test_a_release_that_takes_ray_by_itself_needs_no_option_for_it() -> None:
    old = ask_one(_TWO_NODES, on="2x8xH20", version="0.10.0")
    (finding,) = [each for each in old.findings if each.where == "--distributed-executor-backend"]
    assert (finding.severity, "takes Ray by itself" in finding.message) == (Severity.NOTE, True)
    new = ask_one(_TWO_NODES, on="2x8xH20", version="0.20.0")
    assert at(new, "missing-flag") == ["--distributed-executor-backend"]


def test_rocm_did_not_take_ray_by_itself() -> None:
    old = ask_one(_TWO_NODES, on="2x8xMI300X", version="0.10.0")
    assert any(each.severity is not Severity.NOTE and "Ray" in each.message for each in old.findings)


# --- kernels and weights ---


@pytest.mark.parametrize(
    ("backend", "told"), [("", True), ("--moe-backend humming", False), ("--moe-backend auto", True)]
)
def test_other_kernels_than_marlin(backend: str, told: bool) -> None:
    command = f"vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8 --pipeline-parallel-size 2 {backend}"
    assert bool([each for each in ask_one(command, on="2x8xH200").findings if "(Marlin)" in each.message]) is told


@pytest.mark.parametrize(
    ("sentence", "judged"),
    [
        ("An FP8 Kimi-K3 on 16 H20.", False),
        ("- Model: Kimi-K3, FP8 block-quantized weights", False),
        ("- Model: Kimi-K3 with an FP8 cache", True),
        ("Kimi-K3 in MXFP4.", True),
    ],
)
def test_weights_that_the_text_gives_another_format(sentence: str, judged: bool) -> None:
    text = f"{sentence}\n\n```\npython3 -m sglang.launch_server --model-path /w/Kimi-K3 --tp 16 --nnodes 2\n```\n"
    (one,) = ask(text, "2x8xH20")
    assert (one.checkpoint is not None) is judged


@pytest.mark.parametrize(("tag", "severity"), [("v0.5.9-kimi-k2.5-opt", Severity.NOTE), ("v0.5.9", Severity.WARNING)])
def test_an_image_made_for_the_model_may_have_mended_it(tag: str, severity: Severity) -> None:
    command = "python3 -m sglang.launch_server --model-path /m/Kimi-K2.5 --tp 8 --attention-backend aiter"
    text = f"docker run --device /dev/kfd acme/amd:{tag} {command}"
    told = [each for judged in ask(text, "8xMI325X", "0.5.9") for each in judged.findings]
    assert [each.severity for each in told if "AITER MLA" in each.message] == [severity]


# --- what is not written ---


def test_nothing_lacks_in_a_command_that_is_cut_short() -> None:
    command = "vllm serve moonshotai/Kimi-K2.5 --tool-call-parser kimi_k2"
    assert found(command, "alone does nothing")
    assert not found(f"{command} \\\n    ...\n", "alone does nothing")


def test_a_few_flags_of_a_sentence_lack_nothing() -> None:
    text = "kimi-k3 on vLLM, but I have\n\n```\n--attention-backend FLASHMLA --kv-cache-dtype fp8\n```\n\nalready.\n"
    found_ones = [each for judged in ask(text) for each in judged.findings if each.code is Code.MISSING_FLAG]
    assert {each.where for each in found_ones} <= {"MODEL"}


@pytest.mark.parametrize(
    ("bound", "release"),
    [("vLLM 0.10.0 以降", "0.33.0"), ("vLLM 0.10.0 及以上", "0.33.0"), ("vLLM 0.10.0", "0.10.0")],
)
def test_or_later_in_other_languages(bound: str, release: str) -> None:
    (judged,) = ask(f"必要：{bound}。\n\n```\nvllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8\n```\n")
    assert judged.version == release


def test_layouts_that_the_newest_release_takes_are_of_older_ones() -> None:
    command = "vllm serve MiniMaxAI/MiniMax-M2 --tensor-parallel-size 8"
    (judged,) = ask(command)
    told = [remark for remark in judged.remarks if "FP8 blocks" in remark.finding.message]
    assert [remark.of_former for remark in told] == [True]
    assert not [each for each in ask_one(command, version="0.33.0").findings if "FP8 blocks" in each.message]
    assert at(ask_one(command, version="0.20.0"), "illegal-layout")


@pytest.mark.parametrize(
    ("image", "severity"),
    [("acme/vllm:cu130-20260423", Severity.NOTE), ("vllm/vllm-openai:v0.19.1", Severity.ERROR)],
)
def test_a_key_that_no_release_has_may_be_one_of_the_image(image: str, severity: Severity) -> None:
    config = """'{"model": "a/b", "method": "eagle3", "num_speculative_tokens": 3, "draft_kv_cache_dtype": "fp8"}'"""
    command = f"vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --speculative-config {config}"
    (finding,) = found(f"docker run --gpus all {image} {command}", "draft_kv_cache_dtype")
    assert finding.severity is severity
    assert ("fails at once" in finding.message) is (severity is Severity.ERROR)
