"""In a thread an error is its writer's: that of another person with other options is not put down to the command."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask_one, first_line

COMMAND = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp-size 8 --trust-remote-code"
ERROR = (
    "NotImplementedError: Runner backend MoeRunnerBackend.MARLIN requires a fused func for a2a backend deepep, but "
    "none is registered."
)
HEADS = [
    ("alice · description · 2026-04-13", "bob · comment · 2026-06-23"),
    ("[turn 0 by alice, continued]", "bob · comment · 2026-06-23"),
    ("alice opened this on Apr 13", "bob commented on Jun 23"),
    ("**alice** commented 2 weeks ago", "**bob** commented last week"),
]
OWN_OPTIONS = "I used --enable-prefill-context-parallel --attn-cp-size 8 on main:"


def thread(first: str, second: str, said: str) -> str:
    return f"{first}\n\nOn 8x H200:\n```\n{COMMAND}\n```\n\n{second}\n{said}\n{ERROR}\n"


def stops(text: str) -> bool:
    return any(each.code is Code.LOGGED_FAILURE for each in ask_one(text).findings)


@pytest.mark.parametrize("heads", HEADS)
def test_with_options_that_the_command_does_not_have(heads: tuple[str, str]) -> None:
    text = thread(*heads, OWN_OPTIONS)
    assert not stops(text)
    assert not first_line(text).startswith("Stopped")
    (note,) = [each for each in ask_one(text).findings if "(bob)" in each.message]
    assert note.severity is Severity.NOTE
    assert "Marlin" in note.message


def test_one_that_its_writer_calls_another() -> None:
    assert not stops(thread(*HEADS[0], "With that I get another error:"))


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("alice · comment · 2026-06-23", OWN_OPTIONS),
        ("bob · comment · 2026-06-23", "Same here:"),
        ("bob · comment · 2026-06-23", "I get the same error, with --enforce-eager-mode too:"),
        ("bob · comment · 2026-06-23", "Please try --disable-cuda-graph. The log above ends by this:"),
        ("bob · comment · 2026-06-23", "I start it with --trust-remote-code too, same error:"),
        ("", OWN_OPTIONS),
    ],
)
def test_the_same_person_and_the_same_start(second: str, said: str) -> None:
    assert stops(thread(HEADS[0][0], second, said))


def test_an_error_above_the_command_is_not_looked_at() -> None:
    text = f"bob · description · 2026-06-23\nI get:\n{ERROR}\n\nalice · comment · 2026-06-24\n```\n{COMMAND}\n```\n"
    assert stops(text)
