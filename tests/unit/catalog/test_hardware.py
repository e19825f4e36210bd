"""Devices by the names that people and drivers use, with the figures that planning takes."""

from __future__ import annotations

import pytest

from moonpad.catalog.hardware import device_of_driver, find_device, find_hardware, hardware, near_names
from moonpad.values.plan import Platform

DEVICES = {row.id: row.device for row in hardware().values() if row.device is not None}

MIB, GIB = 2**20, 2**30


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("H100", "h100-sxm"),
        ("h100_sxm", "h100-sxm"),
        ("H100 NVL", "h100-nvl"),
        ("H800", "h800-sxm"),
        ("H20", "h20-96"),
        ("H20-141G", "h20-141"),
        ("H200", "h200-sxm"),
        ("A100", "a100-sxm"),
        ("B200", "b200-sxm"),
        ("B300", "b300-sxm"),
        ("GB200", "gb200-nvl72"),
        ("GB300", "gb300-nvl72"),
        ("RTX4090", "rtx4090"),
        ("RTX 4090", "rtx4090"),
        ("RTX4090-48G", "rtx4090-48g"),
        ("RTX5090", "rtx5090"),
        ("L40S", "l40s"),
        ("MI300X", "mi300x"),
        ("MI325X", "mi325x"),
        ("MI355X", "mi355x"),
        ("MI350X", "mi350x"),
        ("GB10", "gb10"),
        ("DGX Spark", "gb10"),
        ("NVIDIA GB10", "gb10"),
        ("950DT", "ascend-950dt"),
        ("RTX 3090", "rtx3090"),
        ("A800", "a800-sxm"),
        ("A100-40G", "a100-40g"),
        ("A100 PCIe", "a100-pcie"),
        ("GH200", "gh200"),
        ("RTX A6000", "a6000"),
        ("RTX 6000 Ada", "rtx6000-ada"),
        ("A10G", "a10g"),
        ("L4", "l4"),
        ("MI308X", "mi308x"),
        ("NVIDIA A800-SXM4-80GB", "a800-sxm"),
        ("A2", "ascend-910b"),
        ("910B", "ascend-910b"),
        ("A3", "ascend-910c"),
        ("910c", "ascend-910c"),
        ("cpu", "cpu"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
    ],
)
def test_names(name: str, meant: str) -> None:
    device = find_device(name)
    assert device is not None
    assert device.id == meant


def test_every_label_and_id_finds_its_row() -> None:
    for row in hardware().values():
        assert find_hardware(row.label) is row
        assert find_hardware(row.id.upper()) is row


def test_gaudi_is_known_and_refused() -> None:
    row = find_hardware("Gaudi3")
    assert row is not None
    assert row.device is None
    assert "none of moonpad's engines" in row.refused
    assert find_device("Gaudi3") is None
    assert "gaudi3" not in DEVICES


@pytest.mark.parametrize(
    ("name", "driver_mib", "usable_gib"),
    [
        ("H200", 143_771, 139.81),  # nvidia-smi and torch, both in public logs
        ("H100", 81_559, 79.18),
        ("B200", 183_359, 178.35),
        ("A3", 65_536, 61),
        ("RTX4090-48G", 49_140, 47.4),
    ],
)
def test_memory_is_the_drivers_figure(name: str, driver_mib: int, usable_gib: float) -> None:
    device = find_device(name)
    assert device is not None
    assert device.driver_bytes == driver_mib * MIB
    assert device.usable_bytes / GIB == pytest.approx(usable_gib, abs=1e-6)


def test_the_budget_of_a_published_run() -> None:
    """8×H200 at a memory fraction of 0.90: 125.83 GiB."""
    device = find_device("H200")
    assert device is not None
    assert round(0.90 * device.usable_bytes / GIB, 2) == 125.83


def test_what_is_usable_is_less_than_what_there_is() -> None:
    for row in hardware().values():
        low, high = row.usable_bytes
        assert low <= high <= row.driver_bytes
        if row.device is None or row.device.platform is Platform.CPU:
            continue
        assert low <= row.device.usable_bytes <= high
        assert low > 0.9 * row.driver_bytes
        assert row.marketing_gb is not None
        assert row.driver_bytes < 1.12 * row.marketing_gb[1] * 1e9


def test_dies_count_as_devices() -> None:
    """A node of Atlas 800 A3 has 8 packages of two dies; an NVL72 is 18 trays of four."""
    a3, gb200 = find_device("A3"), find_device("GB200")
    assert a3 is not None
    assert gb200 is not None
    assert a3.per_node == 16
    assert a3.usable_bytes == 61 * GIB
    assert (gb200.per_node, gb200.scaleup_domain) == (4, 72)


def test_native_formats() -> None:
    fp8 = {device.id for device in DEVICES.values() if device.native_fp8}
    fp4 = {device.id for device in DEVICES.values() if device.native_fp4}
    assert not fp8 & {"a800-sxm", "a40", "a10g", "a100-sxm", "ascend-910b", "ascend-910c", "cpu"}
    assert fp4 == {"b200-sxm", "b300-sxm", "gb200-nvl72", "gb300-nvl72", "rtx5090", "rtx-pro-6000", "mi355x"} | {
        "mi350x",
        "gb10",
        "ascend-950dt",
        "rtx5080",
    }


@pytest.mark.parametrize(
    ("name", "sm"), [("H100", 90), ("A100", 80), ("B300", 103), ("RTX5090", 120), ("MI300X", None)]
)
def test_capability(name: str, sm: int | None) -> None:
    device = find_device(name)
    assert device is not None
    assert device.sm == sm


def test_a_name_of_two_devices_is_told_apart_by_size() -> None:
    name = "NVIDIA GeForce RTX 4090"
    small, large = device_of_driver(name, 24_564 * MIB), device_of_driver(name, 49_140 * MIB)
    assert small is not None
    assert large is not None
    assert (small.id, large.id) == ("rtx4090", "rtx4090-48g")


def test_a_slice_is_no_device() -> None:
    assert device_of_driver("NVIDIA H100 80GB HBM3", 40_000 * MIB) is None
    assert device_of_driver("Voodoo 2", 12 * MIB) is None


def test_near_names() -> None:
    assert "H200" in near_names("H201")
    assert "MI300X" in near_names("MI300")
    assert near_names("") == ()
    assert near_names("ü" * 10_000) == ()
