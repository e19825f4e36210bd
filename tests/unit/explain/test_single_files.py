"""Files as models, ranges of devices, and truths behind switches."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "python -m sglang.launch_server --tp 8 --model-path"


def told(text: str, words: str) -> int:
    return sum(words in f.message for judged in ask(text) for f in judged.findings)


@pytest.mark.parametrize(
    ("text", "words", "count"),
    [
        (f"{SERVE} /models/k25/model-00001-of-000064.safetensors", "one file of the weights", 1),
        (f"{SERVE} /models/k25", "one file of the weights", 0),
        (f"CUDA_VISIBLE_DEVICES=0-7 {SERVE} moonshotai/Kimi-K2.5", "is no list", 1),
        (f"CUDA_VISIBLE_DEVICES=0,7 {SERVE} moonshotai/Kimi-K2.5", "is no list", 0),
        (f"{SERVE} moonshotai/Kimi-K2.5 --trust-remote-code true", "takes no value", 1),
        (f"{SERVE} moonshotai/Kimi-K2.5 --trust-remote-code", "takes no value", 0),
        (f"{SERVE} moonshotai/Kimi-K2.5 --trust-remote-code word", "takes no value", 0),
    ],
)
def test_slips(text: str, words: str, count: int) -> None:
    assert told(text, words) == count
