"""Types of machines of clouds, as they are written in texts and manifests."""

from __future__ import annotations

import pytest

from moonpad.catalog.cloud_machines import clouds, machine_of_type, machines_in
from moonpad.catalog.clusters import parse_cluster


@pytest.mark.parametrize(
    ("name", "machine"),
    [
        ("p5.48xlarge", "8xH100"),
        ("gpu_8x_h100_sxm5", "8xH100"),
        ("gpu_8x_a100_80gb_sxm4", "8xA100"),
        ("gpu_1x_a100", ""),
        ("H100-SXM-8-80G", "8xH100"),
        ("ml.p5en.48xlarge", "8xH200"),
        ("p6e-gb300.36xlarge", "4xGB300"),
        ("g7e.12xlarge", "2xRTX-PRO-6000"),
        ("a3-highgpu-2g", "2xH100"),
        ("g4-standard-384", "8xRTX-PRO-6000"),
        ("Standard_NC24ads_A100_v4", "1xA100-PCIE"),
        ("standard_nd96isr_h200_v5", "8xH200"),
        ("Standard_NC80adis_H100_v5", "2xH100-NVL"),
        ("BM.GPU.MI300X.8", "8xMI300X"),
        ("m5.large", ""),
        ("p5.48xlarge.example.com", ""),
        ("p4d.24xlarge", "8xA100-40G"),
        ("g5.12xlarge", "4xA10G"),
        ("g6.48xlarge", "8xL4"),
        ("Standard_NV36ads_A10_v5", "1xA10"),
        ("p3.16xlarge", ""),  # V100
    ],
)
def test_types(name: str, machine: str) -> None:
    assert machine_of_type(name) == machine
    if machine:
        assert parse_cluster(machine).name == machine


@pytest.mark.parametrize(
    ("text", "machines"),
    [
        ("on a p5.48xlarge instance", ["8xH100"]),
        ("2x p5en.48xlarge, EFA", ["2x8xH200"]),
        ("--machine-type=a3-ultragpu-8g", ["8xH200"]),
        ("https://instances.example/p5.48xlarge", []),
        ("backup/p5.48xlarge/notes", []),
        ("nothing here", []),
    ],
)
def test_in_a_line(text: str, machines: list[str]) -> None:
    assert [machine for _, _, machine in machines_in(text)] == machines


def test_every_cloud_has_types() -> None:
    assert all(cloud.types for cloud in clouds().values())
