"""A switch that no release has is a slip for another one by what it switches, not by the word in front of it."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("--enable-moe", "leave it out"),  # beside --enable-mis
        ("--enable-metrix", "did you mean --enable-metrics?"),
        ("--disable-radix-cach3", "did you mean --disable-radix-cache?"),
    ],
)
def test_what_is_meant(written: str, remedy: str) -> None:
    (judged,) = ask(f"python3 -m sglang.launch_server --model-path Qwen/Qwen3-30B-A3B {written}")
    assert [each.remedy for each in judged.findings if each.where == written] == [remedy]
