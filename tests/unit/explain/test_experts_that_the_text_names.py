"""Of a folder with the experts of another model: the text names the right repository, or does not."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask_one

START = (
    "python -m sglang.launch_server --model /models/Kimi-K2-Thinking --kt-weight-path {folder} --kt-cpuinfer 56"
    " --kt-threadpool-count 2 --kt-num-gpu-experts 100 --kt-method AMXINT4 --trust-remote-code"
    " --max-total-tokens 37000 --tensor-parallel-size 8 --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"
)
NAMED = "Weights: https://huggingface.co/KVCache-ai/Kimi-K2-Thinking-CPU-weight\n\n"


def judged(text: str, folder: str) -> Judged:
    return ask_one(f"{text}```\n{START.format(folder=folder)}\n```\n", "8xL20")


def given(one: Judged) -> str:
    (line,) = one.corrected
    return line.argv[line.argv.index("--kt-weight-path") + 1]


@pytest.mark.parametrize("folder", ["/models/Kimi-K2-Instruct-CPU-weight", "/models/Kimi-K2-Instruct-CPU-weight/"])
def test_the_folder_of_the_repository_that_is_named(folder: str) -> None:
    assert given(judged(NAMED, folder)) == "/models/Kimi-K2-Thinking-CPU-weight"


@pytest.mark.parametrize(
    "text",
    [
        "",
        NAMED.replace("Thinking", "Instruct"),
        f"{NAMED}Or: https://huggingface.co/someone/Kimi-K2-Thinking-AMX-CPU-weight\n\n",
    ],
)
def test_which_experts_are_meant_is_not_said(text: str) -> None:
    one = judged(text, "/models/Kimi-K2-Instruct-CPU-weight")
    assert any("experts of another model" in finding.message for finding in one.findings)
    assert not any("Thinking-" in word for line in one.corrected for word in line.argv)


def test_the_right_folder_stays() -> None:
    assert given(judged(NAMED, "/data/Kimi-K2-Thinking-CPU-weight")) == "/data/Kimi-K2-Thinking-CPU-weight"
