"""Words by which a fork is known, and a release that a list of things to do names."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask


@pytest.mark.parametrize("front", ["llamacpp", "auto", "none"])
def test_the_front_of_a_fork_is_a_value(front: str) -> None:
    """`--webui NAME` of ik_llama.cpp: in llama.cpp it is a switch."""
    (judged,) = ask(f"llama-server -m /models/Qwen_Qwen3-0.6B-Q6_K.gguf --webui {front} --port 9999\n")
    assert not [each for each in judged.findings if each.severity is not Severity.NOTE]


def test_a_release_that_is_still_to_be_taken() -> None:
    text = "```bash\nvllm serve moonshotai/Kimi-K2-Instruct -tp 8\n```\n\n{} a tag: `vllm/vllm-openai:v0.8.0`\n"
    because = [ask(text.format(mark))[0].version_because for mark in ("- [ ]", "- ")]
    assert because[0].startswith("none is named")
    assert because[1] == "the text names vllm 0.8.0"
