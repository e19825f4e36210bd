"""Variables of two layers that choose devices, one above the other, and slices of a device for several ranks."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --tensor-parallel-size {} --trust-remote-code"
SLICES = "CUDA_VISIBLE_DEVICES=MIG-6a1f0f2a-7c0e-5d5b,MIG-1b9e2d34-5c6d-5e7f"


def messages(text: str) -> list[str]:
    return [finding.message for judged in ask(text) for finding in judged.findings]


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ("ROCR_VISIBLE_DEVICES=4,5,6,7 HIP_VISIBLE_DEVICES=4,5,6,7", True),
        ("ROCR_VISIBLE_DEVICES=2,3,4,5 HIP_VISIBLE_DEVICES=0,1,2,5", True),
        ("ROCR_VISIBLE_DEVICES=4,5,6,7 HIP_VISIBLE_DEVICES=0,1,2,3", False),
        ("ROCR_VISIBLE_DEVICES=0,1,2,3 HIP_VISIBLE_DEVICES=0,1,2,3", False),
        ("HIP_VISIBLE_DEVICES=4,5,6,7", False),
        ("ROCR_VISIBLE_DEVICES=4,5,6,7", False),
        ("ROCR_VISIBLE_DEVICES=$DEVICES HIP_VISIBLE_DEVICES=4,5,6,7", False),
    ],
)
def test_devices_that_are_counted_anew(variables: str, *, told: bool) -> None:
    found = [each for each in messages(f"# 8x MI300X\n{variables} {SERVE.format(4)}\n") if "numbers them anew" in each]
    assert bool(found) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{SLICES} {SERVE.format(2)}", True),
        (f"export {SLICES}\n{SERVE.format(2)}", True),
        (f"{SLICES} {SERVE.format(1)}", False),
        (f"CUDA_VISIBLE_DEVICES=MIG-6a1f0f2a-7c0e-5d5b {SERVE.format(1)}", False),
        (f"CUDA_VISIBLE_DEVICES=GPU-6a1f0f2a,GPU-1b9e2d34 {SERVE.format(2)}", False),
    ],
)
def test_ranks_over_slices(text: str, *, told: bool) -> None:
    assert any("NCCL does not join slices" in each for each in messages(f"{text}\n")) == told
