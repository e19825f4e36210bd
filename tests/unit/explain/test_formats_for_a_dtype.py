"""The format of the published weights, written as --dtype: no choice of the engine, and said by the checkpoint."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask_one

VLLM = "vllm serve moonshotai/{} --tensor-parallel-size 8 --dtype {} --trust-remote-code"
SGLANG = "python -m sglang.launch_server --model-path moonshotai/{} --tp 8 --dtype {} --trust-remote-code"


def corrected(command: str, model: str, dtype: str) -> str:
    judged = ask_one(command.format(model, dtype), on="8xB300")
    assert any("--dtype" in each.where and each.severity is Severity.ERROR for each in judged.findings)
    return " ".join(word for line in judged.corrected for word in line.argv)


@pytest.mark.parametrize("command", [VLLM, SGLANG])
@pytest.mark.parametrize(
    ("model", "dtype"),
    [
        ("Kimi-K2-Thinking", "int4"),
        ("Kimi-K2-Thinking", "w4a16"),
        ("Kimi-K2-Instruct", "fp8"),
        ("Kimi-K2-Instruct", "int4"),  # quantised otherwise: no option makes INT4 of it
    ],
)
def test_the_format_that_the_weights_have(command: str, model: str, dtype: str) -> None:
    line = corrected(command, model, dtype)
    assert f"moonshotai/{model}" in line
    assert "--dtype" not in line


def test_a_format_of_weights_that_have_none_stays_an_error() -> None:
    """--quantization would convert them, and whether that is meant is not said."""
    assert corrected(VLLM, "Kimi-Linear-48B-A3B-Instruct", "fp8") == ""
