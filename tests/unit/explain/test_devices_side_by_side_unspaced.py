"""Kinds of devices that are written side by side are alternatives: where the larger one fits, nothing is an error."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code\n"


@pytest.mark.parametrize(
    "said", ["8xH100/H200", "8×H100/H200 (one node)", "8xH100/8xH200", "8xH100|H200", "8x H100/H200", "8xH100 or H200"]
)
def test_the_larger_one_may_be_meant(said: str) -> None:
    (judged,) = ask(f"{said}\n\n{SERVE}")
    assert not [each for each in judged.findings if each.severity is Severity.ERROR]
    assert [each for each in judged.findings if "on 8xH200, which the text names beside it" in each.message]


@pytest.mark.parametrize("said", ["8xH100", "8xH100/A100", "8xH100 (no H200 here)"])
def test_without_it_the_memory_does_not_hold_it(said: str) -> None:
    (judged,) = ask(f"{said}\n\n{SERVE}")
    assert [each for each in judged.findings if each.severity is Severity.ERROR]
