"""A value and the next option without a blank between them."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def said(text: str) -> list[str]:
    judged = ask(text, "8xH200", "")
    return [each.message for one in judged for each in one.findings if "a blank is missing" in each.message]


@pytest.mark.parametrize(
    "text",
    [
        "python3 -m sglang.launch_server --model-path model--trust-remote-code --tp-size 16",
        "sglang serve --model-path=nvidia/Kimi-K2-Thinking-NVFP4--trust-remote-code --tp-size=8",
        "sglang serve --model-path a/b --speculative-draft-model-path /m/eagle--speculative-num-steps=3",
        "vllm serve moonshotai/Kimi-K2-Instruct--trust-remote-code -tp 16",
    ],
)
def test_glued_words_are_told(text: str) -> None:
    assert said(text)


@pytest.mark.parametrize(
    "text",
    [
        "sglang serve --model-path /hub/models--org--model/snapshots/main --tp-size 8",
        "sglang serve --model-path org/name --trust-remote-code --tp-size 8",
        "sglang serve --model-path org/name--instruct-v2 --tp-size 8",
        'vllm serve org/name --hf-overrides \'{"a": "x--trust-remote-code"}\'',
        "vllm serve $MODEL--trust-remote-code",
    ],
)
def test_other_words_are_not(text: str) -> None:
    assert not said(text)
