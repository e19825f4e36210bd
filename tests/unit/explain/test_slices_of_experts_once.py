"""Experts in FP8 blocks that the ranks cannot share out whole: one error, and whole experts in what is corrected."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

SLICED = (
    "Qwen/Qwen3-30B-A3B-FP8 -tp 4",
    "Qwen/Qwen3-Coder-30B-A3B-Instruct-FP8 -tp 4",
    "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8 -tp 8",
    "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 -tp 8",
    "MiniMaxAI/MiniMax-M2 -tp 8",
)


@pytest.mark.parametrize("words", SLICED)
@pytest.mark.parametrize("release", ["0.10.2", "0.18.0", "0.28.0"])
def test_one_fault_is_one_error(words: str, release: str) -> None:
    (judged,) = ask(f"vLLM {release} on 8x H200\n\nvllm serve {words}\n")
    (error,) = [each for each in judged.findings if each.severity is Severity.ERROR]
    assert error.code is Code.ILLEGAL_LAYOUT
    assert "FP8 blocks of 128" in error.message
    (line,) = judged.corrected
    assert "--enable-expert-parallel" in line.argv
    whole = ask(f"vLLM {release} on 8x H200\n\nvllm serve {words} --enable-expert-parallel\n")
    assert not [each for one in whole for each in one.findings if each.severity is Severity.ERROR]
