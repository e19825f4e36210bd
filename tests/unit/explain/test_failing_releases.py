"""A release without the engine's name, with which a text says that the start fails."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.failing_releases import failing_release
from tests.unit.explain.judging import ask_one

SERVE = "```\nvllm serve moonshotai/Kimi-K2.6 -tp 8 --trust-remote-code --reasoning-parser kimi_k2\n```\n"


@pytest.mark.parametrize(
    ("said", "release"),
    [
        ("We ran it on `v0.20.1`, but we could not serve `acme/Kimi-K2.6-tuned` on `v0.21.0`.", "0.21.0"),
        ("On v0.20.1 it starts\nand it does not start with v0.21.0", "0.21.0"),
        ("With v0.21.0 the server crashes while loading.", "0.21.0"),
        ("It stopped working after upgrading to v0.21.0", "0.21.0"),
        ("It fails in v0.21.0rc1", "0.21.0rc1"),
        # The one with which all is well, the first mended one, several, and those of something else.
        ("It no longer fails on v0.21.0", ""),
        ("It does not happen on v0.21.0", ""),
        ("It fails on v0.20.1, and v0.21.0 has the change.", ""),
        ("It crashed on v0.20.1, it crashed on v0.21.0", ""),
        ("It crashes since v0.6.3 of flashinfer", ""),
        ("It crashes with FlashInfer v0.6.3", ""),
    ],
)
def test_the_release_that_fails(said: str, release: str) -> None:
    assert failing_release(said.split("\n")) == release


def test_a_command_is_judged_by_the_release_that_fails() -> None:
    text = f"I could start this on `v0.22.0`:\n\n{SERVE}\nbut could not start it on `v0.23.0`.\n"
    assert ask_one(text).version == "0.23.0"


def test_a_release_of_which_it_only_says_what_it_lacks_is_none() -> None:
    assert ask_one(f"{SERVE}\nThere was nothing like this on v0.22.0.\n").version != "0.22.0"
