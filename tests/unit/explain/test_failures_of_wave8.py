"""Lines of logs that the eighth wave of inputs had."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

VLLM = "```\nvllm serve deepseek-ai/DeepSeek-V3 -tp 8\n```\n\nIt ends with\n\n```\n{}\n```\n"
OUT = "triton.runtime.errors.OutOfResources: out of resource: shared memory,"


def told(line: str) -> str:
    findings = [finding for judged in ask(VLLM.format(line)) for finding in judged.findings]
    return " ".join(finding.message for finding in findings if finding.code is Code.LOGGED_FAILURE)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("RuntimeError: CUDA out of memory. Tried to allocate 1029.51 GiB. GPU 0 has", "one tensor of 1029.51 GiB"),
        ("RuntimeError: MXFP4 quantization is not supported on gfx942", "no FP4"),
        ("RuntimeError: mla_gluon[bh16bn128] requires batch_size=1, got 512", "got 512"),
        (f"{OUT} ", "tuned for another generation"),
        (
            f"{OUT} Required: 106496, Hardware limit: 101376.",
            "needs 106496 bytes",
        ),
    ],
)
def test_a_cause_is_named(line: str, part: str) -> None:
    assert part in told(line)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("RuntimeError: CUDA out of memory. Tried to allocate 10.51 GiB. GPU 0 has", "one tensor of"),
        ("RuntimeError: MXFP4 quantization is not supported on gfx90a", "no FP4"),
    ],
)
def test_another_line_is_not_taken_for_it(line: str, part: str) -> None:
    assert part not in told(line)
