"""A variable of the environment among the words of a program, which sets nothing there."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

START = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8 {}\n"


def told(words: str) -> list[tuple[str, Severity]]:
    (judged,) = ask(START.format(words))
    return [(each.where, each.severity) for each in judged.findings if "sets nothing" in each.message]


@pytest.mark.parametrize(
    ("words", "severity"),
    [
        ("VLLM_USE_V1=1 --port 8001", Severity.ERROR),
        ("--served-model-name kimi VLLM_USE_V1=1 --port 8001", Severity.WARNING),
    ],
)
def test_a_variable_behind_the_program(words: str, severity: Severity) -> None:
    assert told(words) == [("VLLM_USE_V1", severity)]


@pytest.mark.parametrize("words", ["--enable-lora --lora-modules a=/x MY_NAME=/y", "--served-model-name A_B kimi"])
def test_values_that_are_meant(words: str) -> None:
    assert told(words) == []


def test_an_option_without_its_values() -> None:
    assert told("--served-model-name --port 8001") == []
