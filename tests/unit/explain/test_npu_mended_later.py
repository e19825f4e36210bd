"""Mends of kernels for GPUs are not told of a command on NPUs, whose kernels are others.

Oracle: the changes 37093 (Triton kernels) and 41759 (moe_align_block_size, CUDA) of sgl-project/sglang.
"""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

COMMAND = "sglang serve --model-path deepseek-ai/DeepSeek-V3.2 --tp-size 8 --ep-size 8"


def told(more: str, on: str) -> str:
    return " ".join(finding.message for each in ask(f"{COMMAND} {more}", on, "0.5.19") for finding in each.findings)


@pytest.mark.parametrize("pull", ["37093", "41759"])
def test_a_kernel_of_gpus_is_mended_for_gpus_alone(pull: str) -> None:
    assert f"sgl-project/sglang#{pull}" in told("", "8xH200")
    assert f"sgl-project/sglang#{pull}" not in told("--device npu", "8xA3")


def test_what_names_no_kernel_is_told_of_both() -> None:
    assert "sgl-project/sglang#39095" in told("", "8xH200")
    assert "sgl-project/sglang#39095" in told("--device npu", "8xA3")
