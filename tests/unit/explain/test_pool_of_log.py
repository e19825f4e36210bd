"""A context above the KV cache that the text states."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

COMMAND = "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 8"
REFUSED = "Input length (90000 tokens) exceeds the maximum allowed length (40123 tokens). Use a shorter input"


def told(text: str) -> list[str]:
    return [
        finding.message
        for judged in ask(text)
        for finding in judged.findings
        if finding.where.startswith("--context-l") and "by the text" in finding.message
    ]


@pytest.mark.parametrize("said", [REFUSED, "max_total_num_tokens=40123, chunked_prefill_size=8192"])
def test_the_smaller_pool_is_told(said: str) -> None:
    (message,) = told(f"```\n{COMMAND} --context-length 131072\n```\n\n{said}\n")
    assert "40,123" in message


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{COMMAND} --context-length 32768\n```\n\n{REFUSED}\n",
        f"```\n{COMMAND}\n```\n\n{REFUSED}\n",
        f"```\n{COMMAND} --context-length 40128\n```\n\n{REFUSED}\n",  # the server keeps a few tokens
        f"```\n{COMMAND} --context-length 131072\n```\n",
        f"```\n{COMMAND} --context-length 131072\n```\n\n{REFUSED}\n{REFUSED.replace('40123', '50123')}\n",
        f"```\nvllm serve deepseek-ai/DeepSeek-R1 -tp 8 --max-model-len 131072\n```\n\n{REFUSED}\n",
    ],
)
def test_a_context_that_fits_and_other_texts_are_not(text: str) -> None:
    assert told(text) == []


def test_of_two_servers_nothing_is_told() -> None:
    first, second = f"{COMMAND} --context-length 131072", f"{COMMAND} --context-length 65536 --port 30001"
    assert told(f"```\n{first}\n```\n\nor\n\n```\n{second}\n```\n\n{REFUSED}\n") == []
