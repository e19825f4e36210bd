"""INT4 weights are named where the catalogue has them of the model, and are a question elsewhere.

Oracle: the repositories of the hub. No INT4 weights of DeepSeek-V3 and Kimi-K2-Instruct-0905 are recorded.
"""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def remedies(model: str, on: str) -> list[str]:
    (judged,) = ask(f"vllm serve {model} --tensor-parallel-size 8 --trust-remote-code", on, "0.33.0")
    return [finding.remedy for finding in judged.findings if "arithmetic" in finding.message]


@pytest.mark.parametrize(
    ("model", "on", "named"),
    [
        ("moonshotai/Kimi-K2-Instruct", "2x8xA100", "RedHatAI/Kimi-K2-Instruct-quantized.w4a16"),
        ("nvidia/Kimi-K2.5-NVFP4", "8xH200", "moonshotai/Kimi-K2.5"),
    ],
)
def test_the_checkpoint_is_named(model: str, on: str, named: str) -> None:
    assert [named in remedy for remedy in remedies(model, on)] == [True]


@pytest.mark.parametrize("model", ["deepseek-ai/DeepSeek-V3", "moonshotai/Kimi-K2-Instruct-0905"])
def test_one_that_is_not_known_is_not_promised(model: str) -> None:
    (remedy,) = remedies(model, "2x8xA100")
    assert "an INT4 checkpoint (AWQ, GPTQ), if there is one" in remedy
