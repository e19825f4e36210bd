"""RDMA devices that a command names, and what its container gets."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

RUN = (
    "docker run --gpus all --network=host {} lmsysorg/sglang:v0.5.4 python3 -m sglang.launch_server "
    "--model-path moonshotai/Kimi-K2-Instruct --tp 8 --trust-remote-code --disaggregation-mode prefill "
    "--disaggregation-ib-device {}\n"
)


def told(options: str, cards: str = "mlx5_0,mlx5_1") -> bool:
    found = ask(RUN.format(options, cards), "", "")
    return any("gets none of the RDMA devices" in finding.message for each in found for finding in each.findings)


def test_a_container_without_them() -> None:
    assert told("--ipc=host")


@pytest.mark.parametrize(
    "options",
    [
        "--privileged",
        "--device /dev/infiniband",
        "--device=/dev/infiniband/uverbs0",
        "-v /dev/infiniband:/dev/infiniband",
    ],
)
def test_a_container_with_them(options: str) -> None:
    assert not told(options)


def test_cards_that_are_not_known() -> None:
    assert not told("--ipc=host", "$IB_DEVICES")
