"""A layout of more ranks than the one machine has that a text says it runs on."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "\n\n```\nvllm serve moonshotai/Kimi-K2-Instruct -tp 8 -pp 2 --distributed-executor-backend ray\n```\n"


def told(said: str) -> int:
    return sum("the start waits for more" in each.message for one in ask(said + SERVE) for each in one.findings)


@pytest.mark.parametrize(
    "said",
    [
        "I start this on one node with 8 H100.",
        "A single node with 8 H100 GPUs, Ray runs there.",
        "1 node, 8 x H100, in our cluster",
        "单机8卡 H20，先起 ray",
    ],
)
def test_one_machine_has_too_few(said: str) -> None:
    assert told(said) == 1


@pytest.mark.parametrize(
    "said",
    [
        "I start this in a Ray cluster of 8xH100 nodes.",
        "8x H100, with ray start on the other machines",
        "One node with 8 H100 first, then 2 nodes.",
        "Two nodes with 8 H100",
        "One node with 16 H100.",
    ],
)
def test_several_or_enough(said: str) -> None:
    assert told(said) == 0
