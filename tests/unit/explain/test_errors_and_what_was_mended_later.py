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


NOTES = """# Notes on SGLang, 8x H200

Some day a server dies with an illegal memory access, or with another error of the device.

```bash
{start} --enable-piecewise-cuda-graph --port 30011
```

The first requests ended in `RuntimeError: CUDA error: Warp Illegal Instruction`. The kernel in front of that place is
{kernel}, which left some of its outputs as they were. {more}
"""


def told(kernel: str) -> list[str]:
    text = NOTES.format(start=THINKING, kernel=kernel, more="What we did then is another story. " * 40)
    return [remark.finding.message for judged in ask(text) for remark in judged.remarks if remark.as_told]


def test_the_fault_of_a_kernel_that_the_text_names_is_told_alone() -> None:
    assert [message.partition(" on ")[0] for message in told("moe_fused_gate_kernel")] == [
        "illegal instruction with piecewise CUDA graphs"
    ]
    assert any("illegal memory access" in message for message in told("some_other_small_kernel"))


def test_an_illegal_instruction_is_a_complaint_of_its_own() -> None:
    text = f"On 8x H200 we see an illegal instruction.\n\n{THINKING} --enable-piecewise-cuda-graph\n"
    remarks = [remark for judged in ask(text) for remark in judged.remarks if remark.as_told]
    assert any("illegal instruction" in remark.finding.message for remark in remarks)
    assert not any("illegal memory" in remark.finding.message for remark in remarks)
