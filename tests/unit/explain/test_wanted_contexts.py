"""The context that slots share, where the text expects all of it for each request."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "llama-server -m Kimi-K2-Thinking-UD-Q2_K_XL-00001-of-00008.gguf -ngl 99 -c 131072 {}\n"
FOUR = START.format("-np 4")
REFUSED = "request (40000 tokens) exceeds the available context size ({} tokens), try increasing it\n"
ANSWER = 'curl http://localhost:8080/v1/completions -d \'{"prompt": "a", "max_tokens": %s}\'\n'


def said(text: str) -> list[str]:
    return [each.remedy for one in ask(text) for each in one.findings if "is shared out over" in each.message]


@pytest.mark.parametrize(
    "text",
    [
        f"Each user gets 128k of context.\n\n{FOUR}",
        f"131,072 tokens per request, four at once:\n\n{FOUR}",
        f"I need 131072 tokens for every slot\n\n{FOUR}",
        FOUR + "\n" + REFUSED.format(32768),
        FOUR + "\n" + ANSWER % 65536,
        START.format("--parallel 4") + "\n" + ANSWER % 32768,
        f"We want four users at once, every one of them with 128k of context:\n\n{FOUR}",
        f"Each of our agents needs 128k\n\n{FOUR}",
        FOUR + "\nbut longer documents fail: the request exceeds the available context size\n",
    ],
)
def test_a_request_is_meant_to_have_all(text: str) -> None:
    (remedy,) = said(text)
    assert "--ctx-size 524288" in remedy
    assert "--kv-unified" in remedy


@pytest.mark.parametrize(
    "text",
    [
        FOUR,
        f"Each user gets 32k of context.\n\n{FOUR}",
        f"131072 tokens for all users together\n\n{FOUR}",
        f"Each user gets 128k of context.\n\n{START.format('-np 4 --kv-unified')}",
        f"Each user gets 128k of context.\n\n{START.format('-np 1')}",
        f"Each user gets 128k of context.\n\n{START.format('')}",
        FOUR + "\n" + REFUSED.format(131072),
        FOUR + "\n" + ANSWER % 4096,
        f"Two of them share 128k of context\n\n{FOUR}",
        START.format("-np 1") + "\nthe request exceeds the available context size\n",
    ],
)
def test_nothing_is_said_elsewhere(text: str) -> None:
    assert said(text) == []


def test_a_build_of_before_has_no_cache_for_all() -> None:
    (remedy,) = said(f"llama.cpp b6097. Each user gets 128k of context.\n\n{FOUR}")
    assert "--kv-unified" not in remedy
