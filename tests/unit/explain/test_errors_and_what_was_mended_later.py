"""Of what later releases mended, what the errors in the text speak of stands first."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

THINKING = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp-size 8 --trust-remote-code"


@pytest.mark.parametrize(
    ("version", "error", "first"),
    [
        ("0.5.5", "CUDA error: an illegal memory access was encountered", "illegal memory access"),
        ("0.5.6.post2", "torch.AcceleratorError: CUDA error: an illegal instruction was encountered", "illegal instr"),
        ("0.5.6.post2", "RuntimeError: something else", ""),
    ],
)
def test_what_the_error_speaks_of_was_mended_first(version: str, error: str, first: str) -> None:
    text = f"{THINKING} --enable-piecewise-cuda-graph\n\n{error}\n"
    findings = [finding for judged in ask(text, "8xH200", version) for finding in judged.findings]
    mended = [finding.message for finding in findings if finding.code is Code.MENDED_LATER]
    assert (first in mended[0]) if first else ("illegal" not in mended[0])
