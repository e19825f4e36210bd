"""Ranks of prefill context parallelism are beside those of tensor parallelism, and share the experts with them."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --enable-expert-parallel"


@pytest.mark.parametrize(
    "option", ["--prefill-context-parallel-size 2", "--prefill-context-parallel-size=2", "-pcp 2", "-pcp=2"]
)
def test_they_are_told_with_the_layout(option: str) -> None:
    assert ask_one(f"{SERVE} {option}", on="16xA3").layout_words == "TP8 EP16 PCP2"


@pytest.mark.parametrize("option", ["", "--prefill-context-parallel-size 1"])
def test_without_them_the_layout_is_as_it_was(option: str) -> None:
    assert ask_one(f"{SERVE} {option}", on="8xA3").layout_words == "TP8 EP8"


def test_the_plan_that_is_named_next_has_a_device_for_each() -> None:
    assert ask_one(f"{SERVE} -pcp 2", on="16xA3").prefill_ways == 2
    assert ask_one(SERVE, on="8xA3").prefill_ways == 1
