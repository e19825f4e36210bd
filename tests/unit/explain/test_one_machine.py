"""Machines with more devices than the usual ones of their kind."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve /models/GLM-5.1-W8A8 --tensor-parallel-size 16 --quantization ascend --trust-remote-code"


def errors(said: str) -> list[str]:
    (judged,) = ask(f"vllm-ascend 0.20.2rc1, {said}\n\n{SERVE}\n")
    return [each.message for each in judged.findings if each.severity is Severity.ERROR]


@pytest.mark.parametrize(
    "said",
    [
        "one machine of 16x 910B",
        "a single node with 16 x 910B3",
        "单机16卡910B",
        "910B3, 16 NPUs in one machine",
        "Atlas 200T A2 Box16",
    ],
)
def test_sixteen_devices_in_one_machine_need_nothing_between_machines(said: str) -> None:
    assert errors(said) == []


@pytest.mark.parametrize("said", ["2 machines of 8x 910B3", "16x 910B"])
def test_sixteen_devices_in_two_machines_do(said: str) -> None:
    (error,) = errors(said)
    assert "nothing says how the ranks reach each other" in error
