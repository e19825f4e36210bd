"""`$OPTS` of an array: all elements in zsh (zshexpn(1)), the first one in bash (bash(1), Arrays)."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SCRIPT = """#!/bin/{shell}
OPTS=(
  --tensor-parallel-size 4
  --port 3000
)
vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code $OPTS
"""


@pytest.mark.parametrize(("shell", "tp"), [("zsh", 4), ("bash", 1)])
def test_elements_of_an_array(shell: str, tp: int) -> None:
    judged = ask_one(SCRIPT.format(shell=shell), version="0.32.0")
    assert judged.layout is not None
    assert judged.layout.tp == tp
    assert any("needs a value" in finding.message for finding in judged.findings) is (shell == "bash")
