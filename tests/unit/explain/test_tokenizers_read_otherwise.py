"""A tokenizer in Python that newer releases read without its code, and cut words otherwise: of a program a warning."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

PROGRAM = """from vllm import LLM

llm = LLM(model="{}", tensor_parallel_size=8, max_model_len=8192{})
print(llm.generate("hello"))
"""
SERVE = "vllm serve {} --tensor-parallel-size 8{}\n"
KIMI = "moonshotai/Kimi-K2-Instruct"


def told(text: str) -> list[tuple[Severity, str]]:
    findings = [each for judged in ask(text, "8xH200") for each in judged.findings]
    return [(each.severity, each.remedy) for each in findings if "tokenizer in Python" in each.message]


def test_of_a_program_it_is_a_warning_with_the_remedy_of_its_form() -> None:
    text = PROGRAM.format(KIMI, "")
    assert told(text) == [(Severity.WARNING, "pass trust_remote_code=True")]
    shown = explain_view(ask(text, "8xH200"), read_script(text), 100).plain
    assert "the tokenizer is Python code" not in shown


@pytest.mark.parametrize(
    "text",
    [
        PROGRAM.format(KIMI, ", trust_remote_code=True"),
        SERVE.format(KIMI, " --trust-remote-code"),
        SERVE.format("Qwen/Qwen3-235B-A22B", ""),
    ],
)
def test_nothing_is_told_where_it_is_given_or_not_needed(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize("text", [SERVE.format(KIMI, ""), PROGRAM.format("moonshotai/Kimi-K2.5", "")])
def test_of_a_server_and_of_a_model_that_is_read_alike_it_is_an_advice(text: str) -> None:
    assert {severity for severity, _ in told(text)} == {Severity.NOTE}
