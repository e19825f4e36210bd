"""A text without an error that says that the start fails, of a model whose start an older release broke."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask_one

LINEAR = "python3 -m sglang.launch_server --model moonshotai/Kimi-Linear-48B-A3B-Instruct --tp 4 --trust-remote-code"


def _first(text: str) -> str:
    return verdict(ask_one(text, on=""))[0]


@pytest.mark.parametrize(
    "complaint",
    [
        "It causes a server launch error for kimi-linear.",
        "Kimi-Linear does not start.",
        "启动失败。",
        "It fails to launch.",
    ],
)
def test_a_start_that_fails_is_the_fault_of_that_model_whose_start_failed(complaint: str) -> None:
    first = _first(f"{complaint}\n\n```\n{LINEAR}\n```\n")
    assert first.startswith("Perhaps a fault of an older release: Kimi-Linear does not start")


@pytest.mark.parametrize(
    ("model", "options", "complaint", "said"),
    [
        ("Kimi-K2.5", "--kt-num-gpu-experts 0", "It fails to start.", "K2.5 does not come up with 0 experts"),
        ("Kimi-K2.6", "--kt-num-gpu-experts 8", "Fails to read the config on launch.", "Kimi-K2.6 does not load"),
    ],
)
def test_a_start_that_fails_is_told_in_other_words(model: str, options: str, complaint: str, said: str) -> None:
    command = (
        f"python -m sglang.launch_server --model /srv/{model} --kt-weight-path /srv/{model} --kt-method RAWINT4"
        f" --kt-cpuinfer 64 --tensor-parallel-size 2 {options}"
    )
    first = _first(f"# KTransformers\n\n{complaint}\n\n```\n{command}\n```\n")
    assert first.startswith("Perhaps a fault of an older release: ")
    assert said in first


@pytest.mark.parametrize("complaint", ["It starts.", "Answers are slow."])
def test_a_start_that_does_not_fail_is_no_such_fault(complaint: str) -> None:
    assert "Kimi-Linear does not start" not in _first(f"{complaint}\n\n```\n{LINEAR}\n```\n")
