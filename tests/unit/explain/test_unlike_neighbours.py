"""One name of a list of devices that is written otherwise than the others."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SGL = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp-size 8 --disaggregation-mode prefill"


def found(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if "otherwise than its neighbours" in each.message]


@pytest.mark.parametrize(
    ("text", "where", "meant"),
    [
        (
            f"{SGL} --disaggregation-ib-device mlx5_bond_0,mlx5_bond_1,mlx5_bond2",
            "--disaggregation-ib-device",
            "mlx5_bond_2",
        ),
        (f"{SGL} --disaggregation-ib-device=rdma0,rdma_1,rdma2,rdma3", "--disaggregation-ib-device", "rdma1"),
        (f"export NCCL_IB_HCA=mlx5_0:1,mlx5_1:1,mlx5-2:1\n{SGL}", "NCCL_IB_HCA", "mlx5_2:1"),
        (f"NCCL_IB_HCA==mlx5_0,mlx5-1,mlx5_2 {SGL}", "NCCL_IB_HCA", "mlx5_1"),
    ],
)
def test_a_slip(text: str, where: str, meant: str) -> None:
    (finding,) = found(text)
    assert finding.severity is Severity.WARNING
    assert finding.where == where
    assert meant in finding.remedy


@pytest.mark.parametrize(
    "names",
    [
        "mlx5_0,mlx5_1,mlx5_2",
        "mlx5_0,mlx5_bond_0,mlx5_1",
        "mlx5_bond_0,mlx5_bond1",
        "mlx5_0,mlx5_1,ib0",
        "eth0,eth_0,eth1",
        "mlx5_0,mlx5_1,mlx51_",
        "$A,$B,$C",
    ],
)
def test_two_kinds_of_names(names: str) -> None:
    assert found(f"{SGL} --disaggregation-ib-device {names}") == []
