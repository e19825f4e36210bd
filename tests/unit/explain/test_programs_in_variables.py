"""A program that a variable holds, known by the variable's name."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


@pytest.mark.parametrize(
    ("line", "engine"),
    [
        ('exec "${LLAMA_SERVER_BIN}" --host 127.0.0.1 --port 8080 -m /m/a.gguf', "llama-cpp"),
        ('"$LLAMA_SERVER" -m /m/a.gguf', "llama-cpp"),
        ('"$VLLM" serve Qwen/Qwen3-8B --port 8000', "vllm"),
        ("${VLLM_CMD} serve Qwen/Qwen3-8B", "vllm"),
        ("${TRTLLM_SERVE} Qwen/Qwen3-8B --tp_size 2", "tensorrt-llm"),
    ],
)
def test_known_by_its_name(line: str, engine: str) -> None:
    assert [judged.engine for judged in ask(f"#!/bin/bash\n{line}\n")] == [engine]


@pytest.mark.parametrize("line", ['echo "$VLLM serve is up"', '"$VLLM_HOME" ls', "cd $VLLM_PATH", "$SERVER --port 1"])
def test_others_start_nothing(line: str) -> None:
    assert not ask(f"#!/bin/bash\n{line}\n")
