"""Experts and their copies over the ranks, of models that are not planned."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, ask_one

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


@pytest.mark.parametrize(
    ("count", "copies"), [('"32"', 32), ("32", 32), ('" 32 "', 32), ('"many"', 0), ("null", 0), ("true", 0)]
)
def test_number_of_copies_may_be_in_quotes(count: str, copies: int) -> None:
    text = "vllm serve deepseek-ai/DeepSeek-R1 -tp 1 -dp 16 --enable-expert-parallel --enable-eplb "
    text += f"""--eplb-config '{{"window_size": "1000", "num_redundant_experts": {count}}}'"""
    judged = ask_one(text, "2x8xH200", "0.12.0")
    assert judged.settings is not None
    assert judged.settings.redundant_experts == copies
