"""Requests that a server of GGUF files refuses for want of an option: pictures and embeddings."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "llama-server -m /w/Kimi-K2.5-UD-Q2_K_XL-00001-of-00008.gguf -c 65536 -ngl 99 --cpu-moe --port 8080 {}\n\n"
PICTURE = """curl http://localhost:8080/v1/chat/completions -d '{"messages": [{"role": "user", "content": [
  {"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]}]}'
"""
TEXT = 'curl http://localhost:8080/v1/chat/completions -d \'{"messages": [{"role": "user", "content": "Hi"}]}\'\n'
VECTORS = 'curl http://localhost:8080/v1/embeddings -d \'{"input": "Hi"}\'\n'


def told(text: str, words: str) -> bool:
    return any(words in each.message for one in ask(text) for each in one.findings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (START.format("") + PICTURE, True),
        (START.format("--mmproj /w/mmproj-F16.gguf") + PICTURE, False),
        (START.format("-mm /w/mmproj-F16.gguf") + PICTURE, False),
        (START.format("$MORE") + PICTURE, False),
        (START.format("") + TEXT, False),
        ("llama-server -hf unsloth/Kimi-K2.5-GGUF:UD-Q2_K_XL --port 8080\n\n" + PICTURE, False),
        (START.format("") + PICTURE.replace("8080", "8081"), False),
        (START.format("") + "With --mmproj it reads pictures too.\n\n" + PICTURE, False),
    ],
)
def test_a_picture_wants_the_projector(text: str, *, expected: bool) -> None:
    assert told(text, "the request brings an image") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (START.format("") + VECTORS, True),
        (START.format("--embeddings") + VECTORS, False),
        (START.format("--embedding --pooling last") + VECTORS, False),
        (START.format("") + TEXT, False),
        (START.format("") + VECTORS.replace("8080", "9000"), False),
    ],
)
def test_embeddings_want_their_switch(text: str, *, expected: bool) -> None:
    assert told(text, "asks for embeddings") == expected
