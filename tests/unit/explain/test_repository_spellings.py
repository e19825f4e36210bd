"""Repositories that a publisher does not have, written in another way or with a format of others."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SLIPS = [
    ("moonshotai/Kimi-K2-Instrcut", "moonshotai/Kimi-K2-Instruct"),
    ("moonshotai/KimiK2-Thinking", "moonshotai/Kimi-K2-Thinking"),
    ("moonshotai/Kimi_K2_Thinking", "moonshotai/Kimi-K2-Thinking"),
    ("moonshotai/Kimi-K2-0905-Instruct", "moonshotai/Kimi-K2-Instruct-0905"),
    ("moonshotai/Kimi-K25", "moonshotai/Kimi-K2.5"),
    ("moonshoai/Kimi-K2-Thinking", "moonshotai/Kimi-K2-Thinking"),
    ("deepseek-ai/DeepSeek-R1-NVFP4", "nvidia/DeepSeek-R1-FP4"),
    ("deepseek-ai/DeepSeek-R1-0528-FP4", "nvidia/DeepSeek-R1-0528-FP4"),
]
STARTS = ["vllm serve {} --tensor-parallel-size 8", "python -m sglang.launch_server --model-path {} --tp 8"]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(("written", "meant"), SLIPS)
def test_the_one_that_is_meant_is_written(start: str, written: str, meant: str) -> None:
    (judged,) = ask(start.format(written))
    (finding,) = [each for each in judged.findings if each.where == written]
    assert (str(finding.severity), finding.remedy) == ("warning", f"write {meant}")
    assert [meant in line.argv for line in judged.corrected] == [True]


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("moonshotai/Kimi-K2-Instruct-FP8", "take one that it has: Kimi-K2-Instruct, "),
        ("moonshotai/Kimi-K2-Thinking-INT4", "take one that it has: Kimi-K2-Thinking, "),
        ("moonshotai/Kimi-K2.5-Instruct", "take one that it has: Kimi-K2.5"),
        ("moonshotai/Kimi-K2-Instruct-0711", "take one that it has: Kimi-K2-Instruct"),
        ("deepseek-ai/DeepSeek-V3-FP8", "take one that it has: DeepSeek-V3, "),
        ("deepseek-ai/DeepSeek-V3.1-AWQ", "take one that it has: DeepSeek-V3.1, "),
        ("moonshotai/Kimi-K2-Thinking-GGUF", "take ubergarm/Kimi-K2-Thinking-GGUF or unsloth/Kimi-K2-Thinking-GGUF, "),
    ],
)
def test_the_nearest_stands_first(written: str, first: str) -> None:
    (judged,) = ask(STARTS[0].format(written))
    (finding,) = [each for each in judged.findings if "has no repository" in each.message]
    assert str(finding.severity) == "warning"
    assert finding.remedy is not None
    assert finding.remedy.startswith(first)


@pytest.mark.parametrize(
    "written",
    [
        "moonshotai/Kimi-K2-Thinking",
        "MoonshotAI/kimi-k2-thinking",
        "moonshotai/Kimi-Audio-7B-Instruct",  # of a line that is not known in full
        "deepseek-ai/DeepSeek-V3.2-Exp",
        "deepseek-ai/DeepSeek-OCR-FP8",  # a model of which nothing is known
        "QuantTrio/DeepSeek-V3.1-AWQ",
        "me/KimiK2-Thinking",
        "/models/moonshotai/KimiK2-Thinking",
        "nvidia/DeepSeek-R1-NVFP4",
    ],
)
def test_others_are_left_alone(written: str) -> None:
    (judged,) = ask(STARTS[0].format(written))
    assert [each for each in judged.findings if "repository" in each.message or "owner" in each.message] == []
