"""Devices that are full where experts are shared between them and the host: those on the devices are most of it."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

START = (
    "python -m sglang.launch_server --model /models/Kimi-K2.5 --kt-weight-path /models/Kimi-K2.5 --kt-method RAWINT4 "
    "--kt-cpuinfer 64 {experts} --mem-fraction-static 0.95 --tensor-parallel-size 1"
)
FULL = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 800.00 MiB. GPU 0 has a total capacity of 31.36 GiB"
)


@pytest.mark.parametrize(
    ("experts", "named"),
    [
        ("--kt-num-gpu-experts 50", True),
        ("--kt-num-gpu-experts=8", True),
        ("--kt-num-gpu-experts 0", False),
        ("--kt-num-gpu-experts 1", False),
        ("", False),
    ],
)
def test_fewer_experts_on_the_devices_come_first(experts: str, named: bool) -> None:
    (judged,) = judge(read_script(f"{START.format(experts=experts)}\n\n{FULL}\n"), Question())
    (finding,) = [each for each in judged.findings if "out of memory" in each.message]
    assert finding.remedy.startswith("lower --kt-num-gpu-experts first") is named
