"""More ranks help only where the command sees as many devices."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code"


def found(text: str) -> Finding:
    (finding,) = [each for one in ask(text) for each in one.findings if "one device gets all" in each.message]
    return finding


@pytest.mark.parametrize("value", ["0", "${CUDA_VISIBLE_DEVICES:-0}", "0,1"])
def test_the_remedy_names_the_variable(value: str) -> None:
    assert "CUDA_VISIBLE_DEVICES leaves" in found(f"export CUDA_VISIBLE_DEVICES={value}\n{SERVE}\n").remedy


@pytest.mark.parametrize(
    "line", ["", "export CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7", "export CUDA_VISIBLE_DEVICES=$GPUS"]
)
def test_it_leaves_enough_or_is_not_known(line: str) -> None:
    assert "CUDA_VISIBLE_DEVICES" not in found(f"{line}\n{SERVE}\n").remedy
