"""Calls of tools that a text says to fail, of a server that was started without a reader of calls."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

TEXT = "# {}\n\n```\nvllm serve {} --tensor-parallel-size 2 {}\n```\n"


def told(title: str, model: str = "Qwen/Qwen3-32B", more: str = "") -> list[Severity]:
    findings = (each for judged in ask(TEXT.format(title, model, more)) for each in judged.findings)
    return [each.severity for each in findings if "calls of tools fail" in each.message]


@pytest.mark.parametrize(
    "title",
    [
        "Tool calling does not work with this model",
        "The agent's tool calls fail",
        "function calls are not recognized",
        "It cannot call my tools",
        "GLM-4-9B-0414 通过vllm serve启动工具调用失败",
        "仍不能够成功调用工具",
    ],
)
def test_a_start_without_a_reader_of_calls(title: str) -> None:
    assert told(title) == [Severity.WARNING]


@pytest.mark.parametrize(
    ("title", "model", "more"),
    [
        ("Tool calls work", "Qwen/Qwen3-32B", ""),
        ("How to serve it", "Qwen/Qwen3-32B", ""),
        ("Tool calls fail", "Qwen/Qwen3-32B", "--enable-auto-tool-choice --tool-call-parser hermes"),
        ("Tool calls fail", "Qwen/Qwen3-32B", '"$@"'),
        ("Tool calls fail", "moonshotai/Kimi-K2-Instruct", ""),  # which is told of it in words of its own
    ],
)
def test_nothing_is_said_otherwise(title: str, model: str, more: str) -> None:
    assert told(title, model, more) == []


def test_a_parser_of_another_family() -> None:
    text = TEXT.format("It starts", "zai-org/GLM-4-9B-0414", "--enable-auto-tool-choice --tool-call-parser pythonic")
    (judged,) = ask(text)
    assert any("is not the parser of GLM-4-9B-0414" in each.message for each in judged.findings)


@pytest.mark.parametrize(
    ("model", "parser", "foreign"),
    [
        ("google/gemma-4-31B-it", "hermes", True),
        ("google/gemma-4-31B-it", "gemma4", False),
        ("google/gemma-3-27b-it", "pythonic", False),
    ],
)
def test_parsers_of_gemma(model: str, parser: str, foreign: bool) -> None:
    (judged,) = ask(TEXT.format("Serve it", model, f"--enable-auto-tool-choice --tool-call-parser {parser}"))
    assert any("is not the parser of" in each.message for each in judged.findings) is foreign


def test_thoughts_that_are_asked_for_of_another_model() -> None:
    """`enable_thinking` in a page on several models is not that of DeepSeek-V3.1."""
    v31 = "vllm serve deepseek-ai/DeepSeek-V3.1 -tp 8 --reasoning-parser deepseek_r1"
    other = "vllm serve Qwen/Qwen3-32B --reasoning-parser qwen3"
    asked = '"chat_template_kwargs": {"enable_thinking": True}'
    text = f"# Servers\n\n```\n{v31}\n```\n\n```\n{other}\n```\n\n```python\n{asked}\n```\n"
    told = [each.message for judged in ask(text) for each in judged.findings if "thinks only where" in each.message]
    assert len(told) == 1
