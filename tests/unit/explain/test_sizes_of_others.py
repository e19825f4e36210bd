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
        ("vllm serve MiniMaxAI/MiniMax-M2.5 -tp 12", "write -tp 8"),
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
