"""A variable with both of its values, `0/1`: one that somebody has still to choose."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

TEXT = "```\nexport VLLM_USE_V2_MODEL_RUNNER={}\nvllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8{}\n```\n"


def _findings(value: str, more: str = "") -> list[tuple[Severity, str]]:
    judged = ask(TEXT.format(value, more), "8xH200", "0.32.0")
    return [(each.severity, each.message) for one in judged for each in one.findings]


@pytest.mark.parametrize("value", ["0/1", "1/0", "true/false"])
def test_it_is_to_be_filled_in(value: str) -> None:
    told = [severity for severity, message in _findings(value) if "VLLM_USE_V2_MODEL_RUNNER" in message]
    assert told == [Severity.NOTE]


def test_a_word_ends_the_engine() -> None:
    assert any("ends it as soon as it is read" in message for _, message in _findings("true"))


@pytest.mark.parametrize(("value", "more"), [("1", ""), ("0", " --download-dir /srv/0/1")])
def test_values_and_folders_are_whole(value: str, more: str) -> None:
    assert not any("0/1" in message for _, message in _findings(value, more))
