"""A server's options without a program, and a value that the named release refuses."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

GUIDE = "# Server\n\nKServe runs {image}:\n\n```\n{model}--tensor-parallel-size=8 --max-model-len=65536\n{more}\n```\n"
MODEL = "--model=moonshotai/Kimi-K2-Thinking --trust-remote-code\n"
PARSER = "--enable-auto-tool-choice --tool-call-parser=kimi_k2 --reasoning-parser=kimi_k2"


@pytest.mark.parametrize(
    ("image", "model", "severity"),
    [
        ("`vllm/vllm-openai:v0.11.0`", MODEL, [Severity.ERROR]),
        ("`mirror.example/vllm/vllm-openai:v0.11.0`", MODEL, [Severity.ERROR]),
        ("`vllm/vllm-openai:v0.12.0`", MODEL, []),
        ("vLLM", MODEL, []),
        ("`vllm/vllm-openai:v0.11.0`", "", [Severity.WARNING]),  # options alone, that may be added to others
    ],
)
def test_it_is_an_error_where_the_release_is_named_and_the_list_is_a_whole_server(
    image: str, model: str, severity: list[Severity]
) -> None:
    judged = ask(GUIDE.format(image=image, model=model, more=PARSER))
    refused = [each for one in judged for each in one.findings if "does not take" in each.message]
    assert [each.severity for each in refused] == severity


def test_an_option_that_a_wrapper_may_read_stays_a_warning() -> None:
    text = GUIDE.format(image="`vllm/vllm-openai:v0.12.0`", model=MODEL, more="--pool-of-ours 3")
    unknown = [each for one in ask(text) for each in one.findings if "--pool-of-ours" in each.where]
    assert all(each.severity is not Severity.ERROR for each in unknown)
