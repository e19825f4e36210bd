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
