"""The day of a build that the text speaks of."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.spoken_days import day_of_build
from tests.unit.explain.judging import ask_one

NAMES = ("vllm", "vLLM")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("vLLM (main, 2025-11-03), on eight H200", "2025-11-03"),
        ("vLLM main of 2025-12-07", "2025-12-07"),
        ("vllm nightly (Feb 3, 2026)", "2026-02-03"),
        ("vLLM latest main, December 2025", "2025-12-01"),
        ("vLLM main, commit 8005e606 (2025-11)", "2025-11-01"),
        ("we built vLLM from source on 2026/01/05", "2026-01-05"),
        ("vLLM (2025-08-16, V1 engine)", "2025-08-16"),
        ("vLLM, stock upstream (June 2026).", "2026-06-01"),
        ("vLLM, end of July 2025.", "2025-07-28"),
        ("vLLM as of mid-August 2025", "2025-08-01"),
        ("vLLM meetup in June 2026", ""),
        ("vLLM serves Kimi-K2 since July 2025", ""),
        ("INFO 2025-12-07 10:00:00 vllm engine", ""),
        ("vllm main log of 2025-12-07 10:00:00", ""),
        ("vLLM 0.11.0 came out on 2025-10-02", ""),
        ("SGLang main of 2025-12-07", ""),
        ("org/vllm main of 2025-12-07", ""),
        ("vLLM main of 2025-12-07\nvLLM nightly of 2026-01-07", ""),
    ],
)
def test_a_day_counts_where_a_build_is_spoken_of(text: str, day: str) -> None:
    assert day_of_build(NAMES, tuple(text.split("\n"))) == day


def test_the_build_is_judged_by_the_release_that_was_out() -> None:
    judged = ask_one("# vLLM main of 2025-12-07\nvllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8")
    assert (judged.version, judged.version_behind) == ("0.12.0", "0.13.0")
    assert judged.version_because == "the text speaks of a build of 2025-12-07, when 0.12.0 was the newest"


def test_a_release_that_is_named_counts_more() -> None:
    judged = ask_one("# vLLM main of 2025-12-07\n# vLLM 0.11.2\nvllm serve moonshotai/Kimi-K2-Thinking")
    assert judged.version == "0.11.2"
