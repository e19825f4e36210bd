"""Whose devices a thread names: those of a person who writes below a command are not that of the command's author."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

HEAD = "# Answers are wrong\n\nann · {} · 2026-05-01\n{}\n"
SERVE = "```\nvllm serve moonshotai/Kimi-K2.6 -tp 8 --trust-remote-code --reasoning-parser kimi_k2\n```\n"


@pytest.mark.parametrize(
    ("own", "below", "named"),
    [
        ("", "\nbob · comment · 2026-05-03\nThe same here on 8x H100 80GB.\n", ""),
        ("", "\nann · comment · 2026-05-03\nIt is on 8x H100 80GB.\n", "8xH100"),
        ("We have 8x H200.\n", "\nbob · comment · 2026-05-03\nThe same here on 8x H100 80GB.\n", "8xH200"),
        ("", "\nIt is on 8x H100 80GB.\n", "8xH100"),
    ],
    ids=["of another", "of the author", "of both", "in the same part"],
)
def test_devices_of_a_later_part_by_somebody_else_are_not_meant(own: str, below: str, named: str) -> None:
    (judged,) = ask(HEAD.format("description", own) + SERVE + below)
    assert (judged.cluster.name if judged.cluster is not None else "") == named


def test_a_command_in_an_answer_is_for_the_devices_of_the_question() -> None:
    text = HEAD.format("description", "We have 8x H200.") + "\nbob · comment · 2026-05-03\nTake this:\n" + SERVE
    (judged,) = ask(text)
    assert judged.cluster is not None
    assert judged.cluster.name == "8xH200"
