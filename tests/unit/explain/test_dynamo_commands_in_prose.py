"""A worker of Dynamo whose command stands in a text as it is, beside a fence that holds its log."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, reads_tp8

LOG = "```\nINFO 08-12 10:11:01 [core.py:90] loading\n```"


@pytest.mark.parametrize(
    ("module", "flags", "engine"),
    [
        ("dynamo.vllm", "--model moonshotai/Kimi-K2.6 --tensor-parallel-size 8", "vllm"),
        ("dynamo.sglang", "--model-path moonshotai/Kimi-K2.6 --tp 8", "sglang"),
        ("dynamo.trtllm", "--model-path moonshotai/Kimi-K2.6 --tensor-parallel-size 8", "tensorrt-llm"),
    ],
)
@pytest.mark.parametrize("python", ["python -m", "python3 -m"])
def test_it_is_read(module: str, flags: str, engine: str, python: str) -> None:
    judged = reads_tp8(f"It ends so on 8x B300:\n\n{python} {module} {flags} --trust-remote-code\n\n{LOG}\n")
    assert judged.engine == engine


def test_a_sentence_about_it_starts_nothing() -> None:
    judged = ask(f"The worker dynamo.vllm takes the engine's own options.\n\n{LOG}\n")
    assert [each for each in judged if each.layout is not None] == []
