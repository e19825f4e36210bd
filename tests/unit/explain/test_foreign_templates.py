"""Chat templates that are another family's, by the name of their file."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def told(model: str, template: str, engine: str = "vllm serve {} -tp 8 --trust-remote-code --chat-template {}") -> bool:
    found = ask(engine.format(model, template) + "\n", "", "")
    return any("marks its turns with other tokens" in finding.message for each in found for finding in each.findings)


@pytest.mark.parametrize(
    ("model", "template"),
    [
        ("moonshotai/Kimi-K2-Instruct", "./templates/qwen_chatml.jinja"),
        ("moonshotai/Kimi-K2.5", "/data/chatml.jinja"),
        ("zai-org/GLM-4.6", "examples/tool_chat_template_deepseekv31.jinja"),
        ("Qwen/Qwen3-235B-A22B", "tool_chat_template_llama3.1_json.jinja"),
    ],
)
def test_a_template_of_another_family(model: str, template: str) -> None:
    assert told(model, template)


@pytest.mark.parametrize(
    ("model", "template"),
    [
        ("moonshotai/Kimi-K2-Instruct", "kimi_k2.jinja"),
        ("moonshotai/Kimi-K2-Instruct", "/data/chat_template.jinja"),
        ("moonshotai/Kimi-Dev-72B", "qwen2.jinja"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "llama3.jinja"),
        ("Qwen/Qwen3-32B", "chatml.jinja"),
        ("NousResearch/Hermes-3-Llama-3.1-70B", "chatml.jinja"),
        ("moonshotai/Kimi-K2-Instruct", "$TEMPLATE"),
    ],
)
def test_a_template_that_may_be_its_own(model: str, template: str) -> None:
    assert not told(model, template)
