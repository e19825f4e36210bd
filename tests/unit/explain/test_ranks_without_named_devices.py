"""More ranks than any machine has devices, on one machine: told also where no devices are named."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

START = "vllm serve moonshotai/Kimi-K3 --trust-remote-code --tensor-parallel-size 8"


def told(text: str) -> bool:
    (judged,) = ask(text)
    return any("how the ranks reach each other" in finding.message for finding in judged.findings)


@pytest.mark.parametrize("stages", [4, 8])
def test_one_machine_has_not_so_many(stages: int) -> None:
    assert told(f"{START} --pipeline-parallel-size {stages}\n")


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--pipeline-parallel-size 2",
        "--pipeline-parallel-size 8 --nnodes 8 --node-rank 0 --master-addr 10.0.0.1",
        "--pipeline-parallel-size 8 --distributed-executor-backend ray",
    ],
)
def test_nothing_is_told_of_others(options: str) -> None:
    assert not told(f"{START} {options}\n")


@pytest.mark.parametrize(("devices", "expected"), [(8, True), (16, False)])
def test_a_container_has_the_devices_that_it_is_given(devices: int, expected: bool) -> None:
    inside = f"{START} --pipeline-parallel-size 2".removeprefix("vllm serve ")
    (judged,) = ask(f"docker run --gpus {devices} vllm/vllm-openai:latest --model {inside}\n")
    assert any("16 ranks, and the containers get 8 devices" in each.message for each in judged.findings) is expected
