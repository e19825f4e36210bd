"""Repositories whose owner is written nearly so."""

from __future__ import annotations

import pytest

from moonpad.catalog.publishers import owner_meant
from tests.unit.explain.judging import ask


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("moonshot-ai/kimi-k2-instruct", "moonshotai/Kimi-K2-Instruct"),
        ("moonshot/Kimi-K2-Thinking", "moonshotai/Kimi-K2-Thinking"),
        ("MoonshotAI/Kimi-K2-Instruct", ""),
        ("deepseek/DeepSeek-R1", "deepseek-ai/DeepSeek-R1"),
        ("deepseekai/DeepSeek-V3", "deepseek-ai/DeepSeek-V3"),
        ("deepseek-ai/DeepSeek-V3", ""),
        ("unsloth/DeepSeek-R1", ""),  # a repository of another publisher
        ("models/DeepSeek-R1", ""),
        ("/models/deepseek/DeepSeek-R1", ""),
        ("moonshot/My-Model", ""),
        ("Kimi-K2-Instruct", ""),
        ("moonshotai/Kimi-K2.5-NVFP4", "nvidia/Kimi-K2.5-NVFP4"),
        ("deepseek-ai/Kimi-K2.5-NVFP4", ""),  # not all that it has is known
    ],
)
def test_the_owner_of_a_known_model_is_named(written: str, meant: str) -> None:
    assert owner_meant(written) == meant


def test_a_server_of_it_is_warned() -> None:
    (judged,) = ask("vllm serve moonshot-ai/Kimi-K2-Instruct -tp 8\n")
    (finding,) = [each for each in judged.findings if "owner" in each.message]
    assert str(finding.severity) == "warning"
    assert finding.remedy == "write moonshotai/Kimi-K2-Instruct"


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ('"owner/Kimi-K2.5-NVFP4 (text only)"', "write owner/Kimi-K2.5-NVFP4"),
        ('"owner/Kimi-K2.5 of last week"', "write owner/Kimi-K2.5"),
        ('"/models/Kimi K2"', ""),
        ('"models/$NAME of mine"', ""),
        ("owner/Kimi-K2.5", ""),
    ],
)
def test_a_remark_in_a_name(name: str, remedy: str) -> None:
    (judged,) = ask(f"vllm serve {name} --max-model-len 8192")
    assert [one.remedy for one in judged.findings if "has blanks" in one.message] == ([remedy] if remedy else [])
