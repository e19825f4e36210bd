"""Lines that say what a setting is for, below a command, are no commands: their brackets are no errors of a shell."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

SERVE = "vllm serve moonshotai/Kimi-K2.5 \\\n--tensor-parallel-size 4 \\\n--block-size 1\n"


def syntax(line: str) -> list[int]:
    return [problem.line for problem in read_script(SERVE + line + "\n").problems if problem.code == "syntax"]


@pytest.mark.parametrize(
    "line",
    [
        "VLLM_ROCM_USE_AITER=0 - AITER disabled (MLA head count) --tensor-parallel-size 4 - Not 8 (64/4=16 heads)",
        "--tensor-parallel-size 4 - Not 8! Required for the heads (64/4=16 per GPU)",
        "--trust-remote-code – the model uses custom code (see its files)",
        "--block-size=1 → one token (MLA)",
    ],
)
def test_what_a_setting_is_for(line: str) -> None:
    assert syntax(line) == []


@pytest.mark.parametrize(
    "line",
    [
        "VLLM_ROCM_USE_AITER=0 vllm serve (moonshotai/Kimi-K2.5)",
        "vllm serve moonshotai/Kimi-K2.5 --served-model-name (k2)",
    ],
)
def test_a_bracket_in_a_command(line: str) -> None:
    assert syntax(line) == [4]
