"""Experts and their copies over the ranks, of models that are not planned."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

BASE = "sglang serve --model-path Qwen/Qwen3-235B-A22B --tp-size 8 --enable-eplb "


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--ep-size 8 --ep-num-redundant-experts 3", 1),
        ("--moe-a2a-backend deepep --ep-num-redundant-experts 3", 1),
        ("--ep-size 8 --ep-num-redundant-experts 16", 0),
        ("--ep-size 8", 0),
        ("--ep-num-redundant-experts 3", 0),
        ("--ep-size $EP --ep-num-redundant-experts 3", 0),
        ("--ep-size 8 --ep-num-redundant-experts $N", 0),
    ],
)
def test_equal_numbers_on_the_ranks(options: str, expected: int) -> None:
    judged = ask(BASE + options, "8xH200", "0.5.9")
    found = [finding for each in judged for finding in each.findings if "copies leave" in finding.message]
    assert len(found) == expected
