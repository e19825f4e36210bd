"""Variables in the place of an option, by a name that the program does not read."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "llama-server -m /w/Moonlight-16B-A3B-Instruct-Q6_K.gguf\n"
COMPOSE = """services:
  kimi:
    image: ghcr.io/ggml-org/llama.cpp:server-cuda
    environment:
      LLAMA_ARG_MODEL: /models/Moonlight-16B-A3B-Instruct-Q6_K.gguf
      {}
    command: ["--jinja"]
"""
POD = """apiVersion: v1
kind: Pod
metadata: {{name: kimi}}
spec:
  containers:
  - name: kimi
    image: ghcr.io/ggml-org/llama.cpp:server-cuda
    args: ["-m", "/models/Moonlight-16B-A3B-Instruct-Q6_K.gguf"]
    env:
    - {{name: {}, value: "20"}}
"""


def meant(text: str) -> list[str]:
    found = [each for one in ask(text) for each in one.findings if "the variable of that option is" in each.message]
    return [each.remedy.removeprefix("write LLAMA_") for each in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"export LLAMA_ARG_NGL=20\n{START}", ["ARG_N_GPU_LAYERS"]),
        (f"export LLAMA_ARG_C=8192\n{START}", ["ARG_CTX_SIZE"]),
        (f"LLAMA_ARG_NP=4 {START}", ["ARG_N_PARALLEL"]),
        (f"LLAMA_ARG_BATCH_SIZE=4096 {START}", ["ARG_BATCH"]),
        (f"LLAMA_ARG_API_KEY=secret {START}", ["API_KEY"]),
        (COMPOSE.format("LLAMA_ARG_NGL: 20"), ["ARG_N_GPU_LAYERS"]),
        (COMPOSE.format("LLAMA_ARG_CTX_SIZES: 8192"), []),  # said otherwise
        (POD.format("LLAMA_ARG_NGL"), ["ARG_N_GPU_LAYERS"]),
        (POD.format("LLAMA_ARG_N_GPU_LAYERS"), []),
        (f"export LLAMA_ARG_N_GPU_LAYERS=20 LLAMA_ARG_CTX_SIZE=8192\n{START}", []),
        (f"LLAMA_ARG_NO_MMAP=1 {START}", []),
        ("LLAMA_ARG_NGL=20\nllama-server -m m.gguf -ngl $LLAMA_ARG_NGL\n", []),
        (f"LLAMA_ARG_MINE=20 {START}", []),
    ],
)
def test_a_variable_is_called_after_the_longest_name(text: str, expected: list[str]) -> None:
    assert meant(text) == expected
