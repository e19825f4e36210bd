"""Faults of the model that another start of the text serves are not told of a start whose model is not known."""

from __future__ import annotations

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

SMALL = "### A small one (1x A100)\n```bash\nvllm serve acme/Answer-9B --max-model-len 32768\n```\n"
LARGE = "### DeepSeek V3.2 (4x GB200)\n```bash\nvllm serve deepseek-ai/DeepSeek-V3.2 -tp 4\n```\n"
OWN = "Weights of DeepSeek-V3.2, tuned by us.\n```bash\nvllm serve acme/Answer-9B --max-model-len 32768\n```\n"


def mended(text: str) -> list[list[str]]:
    return [[each.message for each in judged.findings if each.code is Code.MENDED_LATER] for judged in ask(text)]


def test_what_is_said_of_one_start_is_not_said_of_another() -> None:
    (alone,) = mended(SMALL)
    small, large = mended(SMALL + LARGE)
    assert small == alone
    assert len(large) > len(alone)
    large, small = mended(LARGE + SMALL)
    assert small == alone


def test_of_the_only_start_the_text_says_what_its_model_is() -> None:
    (alone,), (own,) = mended(SMALL), mended(OWN.replace("```bash", "On 1x A100:\n```bash"))
    assert len(own) > len(alone)
