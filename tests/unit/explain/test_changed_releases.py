"""A text about two releases of an engine, of which the later one fails."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.changed_releases import release_after_change
from tests.unit.explain.judging import ask_one

SERVE = "```\nvllm serve moonshotai/Kimi-K2.6 -tp 8 --trust-remote-code --reasoning-parser kimi_k2\n```\n"


@pytest.mark.parametrize(
    ("said", "release"),
    [
        ("It worked with v0.19.0, and fails on nightly 0.19.1rc1.dev100:", "0.19.1rc1.dev100"),
        ("vLLM v0.19.0 works, nightly 0.19.1rc1.dev100 fails", "0.19.1rc1.dev100"),
        ("Works on vllm 0.24.0 but not on 0.25.1", "0.25.1"),
        ("This ran fine on 0.24.0 and crashes with 0.25.1.", "0.25.1"),
        ("Regression: v0.24.0 -> v0.25.1 breaks our model", "0.25.1"),
        ("v0.24.0 → v0.25.1: crash while loading", "0.25.1"),
        ("Upgraded from 0.26.0 to 0.27.0 and now there is no answer", "0.27.0"),
        ("After upgrading the vllm image from 0.26.0 to 0.27.0", "0.27.0"),
        ("# [Bug]: upgrade vllm from 0.26.0 to 0.27.0 run error", "0.27.0"),
        # Another product, a way back, one that is only asked for, and two texts that differ.
        ("after upgrading flashinfer from 0.6.3 to 0.6.4 it crashes", ""),
        ("Upgrading transformers from 0.26.0 to 0.27.0", ""),
        ("Works with flashinfer 0.6.3 but fails with 0.6.4", ""),
        ("I went back: downgraded from 0.27.0 to 0.26.0", ""),
        ("You should upgrade from 0.26.0 to 0.27.0", ""),
        ("It works on 0.27.0 but not on 0.26.0", ""),
        ("Works on 0.24.0 but not on 0.25.1\nUpgraded from 0.25.1 to 0.26.0", ""),
        ("latency went from 0.26.0 s to 0.27.0 s", ""),
    ],
)
def test_the_later_release(said: str, release: str) -> None:
    assert release_after_change(said.split("\n")) == release


def test_a_command_is_judged_by_it() -> None:
    assert ask_one(f"Works on vllm 0.22.0 but not on 0.23.0\n\n{SERVE}").version == "0.23.0"
    assert ask_one(f"Upgraded from v0.22.0 to v0.23.0, and it crashes:\n\n{SERVE}").version == "0.23.0"
