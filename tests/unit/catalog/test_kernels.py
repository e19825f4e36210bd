"""Measured kernels: that they are read, and are not faster than the device's data sheet."""

import json
from pathlib import Path

import pytest

from moonpad.catalog.hardware import hardware
from moonpad.catalog.kernels import KernelSeries, kernels

MEASURED = Path(__file__).parents[3] / "benchmarks" / "results" / "gpu_kernels.jsonl"


def series(key: str) -> KernelSeries:
    return kernels()[f"h200-sxm {key}"]


def test_every_measured_line_is_a_point() -> None:
    lines = [json.loads(line) for line in MEASURED.read_text().splitlines()]
    assert sum(len(each.points) for each in kernels().values()) == sum("s" in line for line in lines)


def test_some_of_them_by_hand() -> None:
    """Lines of the file as they stand there."""
    assert series("experts int4 marlin 256").seconds(64) == pytest.approx(358.6e-6, rel=1e-3)
    assert series("mla decode fa3 8").seconds(1, 1024) == pytest.approx(15.35e-6, rel=1e-3)
    assert series("mla decode fa3 8").seconds(1, 1000) is None


def test_none_is_faster_than_the_data_sheet() -> None:
    """4.8 TB/s, and 989 and 1,979 TFLOPS without sparsity."""
    device = hardware()["h200-sxm"].device
    assert device is not None
    assert device.memory_bytes_per_s
    for name in ("copy", "read"):
        ((size, _, seconds),) = series(name).points
        assert 0.5 < size / seconds / device.memory_bytes_per_s < 1
    for name, flops in (("bf16 product", 989e12), ("fp8 product", 1979e12)):
        ((operations, _, seconds),) = series(name).points
        assert 0.5 < operations / seconds / flops < 1


def test_more_tokens_take_no_less_time() -> None:
    for each in kernels().values():
        if each.part in ("experts", "prompt attention"):
            times = [seconds for _, _, seconds in each.points]
            assert times == sorted(times)
