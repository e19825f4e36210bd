"""Options of Dynamo's workers that later releases have no more."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

VLLM = "python3 -m dynamo.vllm --model Qwen/Qwen3-32B"
SGLANG = "python3 -m dynamo.sglang --model-path Qwen/Qwen3-32B"
TRTLLM = "python3 -m dynamo.trtllm --model-path Qwen/Qwen3-32B"
IMAGE = "nvcr.io/nvidia/ai-dynamo/vllm-runtime"


def told(text: str) -> list[str]:
    return [
        finding.where
        for judged in ask(text)
        for finding in judged.findings
        if finding.message.startswith("Dynamo ") and "any more" in finding.message
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{IMAGE}:1.0.0\n\n```\n{VLLM} --connector nixl\n```\n", ["--connector"]),
        (f"{IMAGE}:0.9.1\n\n```\n{VLLM} --connector nixl\n```\n", []),
        (f"{IMAGE}:1.3.1\n\n```\n{VLLM} --is-prefill-worker\n```\n", []),
        (f"{IMAGE}:1.4.0\n\n```\n{VLLM} --is-prefill-worker\n```\n", ["--is-prefill-worker"]),
        (f"{VLLM} --store-kv=file", ["--store-kv"]),
        (f"{SGLANG} --multimodal-worker", ["--multimodal-worker"]),
        (f"ai-dynamo[trtllm]==0.6.1\n\n```\n{TRTLLM} --next-endpoint a.b.c\n```\n", []),
        (f"{IMAGE}:0.9.1 {IMAGE}:1.4.0\n\n```\n{VLLM} --is-prefill-worker\n```\n", []),
        (f"{VLLM} --disaggregation-mode prefill", []),
        ("vllm serve Qwen/Qwen3-32B --connector nixl", []),
    ],
)
def test_options_that_are_gone(text: str, expected: list[str]) -> None:
    assert told(text) == expected
