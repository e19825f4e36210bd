"""Sizes of models that are not planned, against what the ranks share out and what the formats of weights ask for."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask


def told(text: str, part: str, on: str = "", version: str = "") -> Severity | None:
    """How severe the finding is that says this; None where there is none."""
    findings = [finding for judged in ask(text, on, version) for finding in judged.findings]
    return next((each.severity for each in findings if part in f"{each.where} {each.message} {each.remedy}"), None)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("vllm serve zai-org/GLM-4.6 -tp 6", "the 8 KV heads and the 151552 tokens of the vocabulary of GLM-4.6"),
        ("vllm serve Qwen/Qwen3.5-27B -tp 3", "the 4 KV heads"),
        ("vllm serve MiniMaxAI/MiniMax-M2.5 -tp 12", "write -tp 4"),
        ("vllm serve Qwen/Qwen2.5-7B-Instruct -tp 7", "write -tp 4"),
    ],
)
def test_what_ranks_cannot_share_out_is_an_error(line: str, part: str) -> None:
    assert told(line.replace("-tp", "--tensor-parallel-size"), part.replace("-tp", "--tensor-parallel-size")) is (
        Severity.ERROR
    )


@pytest.mark.parametrize(
    "line",
    [
        "vllm serve zai-org/GLM-4.6 --tensor-parallel-size 8",
        "vllm serve zai-org/GLM-4.6 --tensor-parallel-size 16 --enable-expert-parallel",  # KV heads are copied
        "vllm serve Qwen/Qwen3.5-27B --tensor-parallel-size 8",
        "vllm serve Qwen/Qwen3-Coder-480B-A35B-Instruct --tensor-parallel-size 32 --enable-expert-parallel",
    ],
)
def test_what_they_can_is_none(line: str) -> None:
    assert told(line, "cannot be shared out evenly") is None


def test_a_model_is_known_by_its_served_name_where_the_folder_says_nothing() -> None:
    line = "vllm serve {} --served-model-name GLM-4.7 --tensor-parallel-size 6"
    assert told(line.format("/models/model"), "8 KV heads") is Severity.WARNING
    assert told(line.format("/models/our-own-llm"), "8 KV heads") is None


def test_the_vocabulary_is_widened_elsewhere() -> None:
    line = "python -m sglang.launch_server --model-path Qwen/Qwen3-Coder-480B-A35B-Instruct --tp-size 6"
    assert told(line, "KV heads") is Severity.WARNING
    assert told(line, "tokens of the vocabulary") is None


KT = (
    "python -m sglang.launch_server --model /m/MiniMax-M2.5 --kt-weight-path /m/MiniMax-M2.5 --kt-method FP8 "
    "--kt-cpuinfer 32 --kt-threadpool-count 2 --kt-num-gpu-experts 4 --tensor-parallel-size {} {}"
)


def test_experts_beside_those_in_ram_are_sliced_by_all_ranks() -> None:
    assert told(KT.format(8, ""), "blocks of 128") is Severity.WARNING
    assert told(KT.format(8, "--ep-size 8"), "write --tensor-parallel-size 4") is Severity.WARNING
    assert told(KT.format(4, ""), "blocks of 128") is None


def test_dense_layers_have_whole_blocks() -> None:
    line = "vllm serve Qwen/Qwen3-4B{} --tensor-parallel-size {}"
    assert told(line.format("-FP8", 8), "write --tensor-parallel-size 4") is Severity.WARNING
    assert told(line.format("-FP8", 4), "FP8 blocks") is None
    assert told(line.format("", 8), "FP8 blocks") is None


AIR = "vllm serve {} --tensor-parallel-size {} {}"


@pytest.mark.parametrize(
    ("name", "tp", "on", "part"),
    [
        ("zai-org/GLM-4.5-Air-FP8", 8, "8xA100", "size_n = 2736"),
        ("zai-org/GLM-4.5V-FP8", 4, "4xA100", "write --tensor-parallel-size 1 and share"),
    ],
)
def test_fp8_weights_go_through_tiles_where_the_device_has_no_fp8(name: str, tp: int, on: str, part: str) -> None:
    assert told(AIR.format(name, tp, ""), part, on) is Severity.WARNING
    assert told(AIR.format(name, tp, ""), part, on, version="0.11.0") is Severity.WARNING


@pytest.mark.parametrize(
    ("name", "tp", "on", "version"),
    [
        ("zai-org/GLM-4.5-Air-FP8", 2, "2xA100", ""),
        ("zai-org/GLM-4.5-Air-FP8", 8, "8xH100", ""),
        ("zai-org/GLM-4.5-Air", 8, "8xA100", ""),
        ("zai-org/GLM-4.5-Air-FP8", 8, "8xA100", "0.24.0"),
        ("zai-org/GLM-4.5-FP8", 8, "8xA100", ""),
    ],
)
def test_tiles_that_fit_are_none(name: str, tp: int, on: str, version: str) -> None:
    assert told(AIR.format(name, tp, ""), "Marlin", on, version) is None


def test_a_device_is_known_by_words_around_which_there_is_no_blank() -> None:
    text = "我有4张A6000，启动报错\n\n```\nvllm serve /m/GLM-4.5V-FP8 --tensor-parallel-size 4\n```\n"
    assert told(text, "tile_n_size = 64") is Severity.WARNING
    assert told(text.replace("A6000", "L40S"), "tile_n_size = 64") is None


@pytest.mark.parametrize(
    ("program", "expected"), [("", Severity.WARNING), (" --kt-weight-path /models/w --kt-method FP8", None)]
)
def test_a_fork_that_counts_by_itself_is_not_held_against_releases_of_its_base(
    program: str, expected: Severity | None
) -> None:
    """kvcache-ai/ktransformers#1930: 0.5.3 of it loads Qwen3.5, whose class SGLang has since 0.5.9."""
    line = f"python -m sglang.launch_server --model-path /models/Qwen3.5-122B-A10B-FP8 --tp 8{program}"
    assert told(line, "has no class for", "8xH100", "0.5.3") is expected


@pytest.mark.parametrize(
    ("version", "expected"), [("0.11.0rc1", Severity.WARNING), ("0.12.0rc1", None), ("0.11.0", Severity.WARNING)]
)
def test_a_plugin_has_the_classes_of_the_release_that_it_is_built_upon(version: str, expected: Severity | None) -> None:
    text = "vllm-ascend, Atlas A3\n\n```\nvllm serve /w/MiniMax-M2-w8a8 --quantization ascend -tp 8\n```\n"
    assert told(text, "has no class for MiniMax-M2", "8xA3", version) is expected


@pytest.mark.parametrize(
    ("name", "is_told"),
    [
        ("RedHatAI/Qwen3-30B-A3B-quantized.w4a16", True),
        ("ramblingpolymath/Qwen3-Coder-30B-A3B-Instruct-W4A16", True),
        ("cyankiwi/Qwen3-30B-A3B-Instruct-2507-AWQ-4bit", False),  # in groups of 32
    ],
)
def test_groups_of_four_bits_are_known_by_how_the_name_ends(name: str, is_told: bool) -> None:
    line = f"vllm serve {name} --tensor-parallel-size 4"
    assert (told(line, "which groups of 128 do not divide", "4xA100", "0.12.0") is Severity.WARNING) is is_told
