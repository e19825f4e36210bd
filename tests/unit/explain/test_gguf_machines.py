"""Servers of GGUF files against the machine of the text: shares of cards, and memory that a container may not lock."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "llama-server -m /w/Kimi-K2-Instruct-UD-IQ1_S-00001-of-00006.gguf -ngl 99 -ot exps=CPU -fa on {}\n"
THREE = "Setup: 3x RTX 3090.\n\n"
RUN = "docker run -d --gpus all {} -v /data:/models ghcr.io/ggml-org/llama.cpp:server-cuda -m /models/K.gguf {}\n"


def told(text: str, words: str) -> bool:
    return any(words in each.message for one in ask(text) for each in one.findings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (THREE + START.format("-ts 24,24"), True),
        (THREE + START.format("--tensor-split 1/1"), True),
        (THREE + START.format("-ts 24,24,24"), False),
        (THREE + START.format("-ts 24,24,0"), False),
        (THREE + START.format(""), False),
        (THREE + "CUDA_VISIBLE_DEVICES=0,1 " + START.format("-ts 24,24"), False),
        (THREE + START.format("-ts 24,24 --device CUDA0,CUDA1"), False),
        ("Setup: 2x RTX 3090.\n\n" + START.format("-ts 24,24"), False),
        ("Setup: 2x RTX 3090 and 1x RTX 4090.\n\n" + START.format("-ts 24,24"), False),
        (START.format("-ts 24,24"), False),
    ],
)
def test_cards_without_a_share(text: str, *, expected: bool) -> None:
    assert told(text, "cards without a share") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (RUN.format("", "--mlock"), True),
        (RUN.format("", "--load-mode mmap+mlock"), True),
        (RUN.format("--ulimit memlock=-1:-1", "--mlock"), False),
        (RUN.format("--cap-add IPC_LOCK", "--mlock"), False),
        (RUN.format("--privileged", "--mlock"), False),
        (RUN.format("$MORE", "--mlock"), False),
        (RUN.format("", "--load-mode mmap"), False),
        ("llama-server -m /w/K.gguf --mlock\n", False),
    ],
)
def test_memory_that_a_container_may_not_lock(text: str, *, expected: bool) -> None:
    assert told(text, "may lock a few MiB only") == expected
