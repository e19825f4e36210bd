"""What `nvidia-smi` shows of a machine, against the ranks that are started there."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

LIST = "GPU {}: NVIDIA H200 (UUID: GPU-{}b1a)\n"
ROW = "|   {}  NVIDIA H100 80GB HBM3          On  |   00000000:1{}:00.0 Off |                    0 |\n"
SERVE = "\nvllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size {} --trust-remote-code{}\n"


def shown(row: str, numbers: range) -> str:
    return "$ nvidia-smi\n" + "".join(row.format(number, number) for number in numbers)


def told(text: str) -> bool:
    return any("the machine shows" in finding.message for each in ask(text, "", "") for finding in each.findings)


@pytest.mark.parametrize("row", [LIST, ROW])
def test_fewer_devices_than_ranks(row: str) -> None:
    assert told(shown(row, range(4)) + SERVE.format(8, ""))
    assert not told(shown(row, range(8)) + SERVE.format(8, ""))
    assert not told(shown(row, range(4)) + SERVE.format(4, ""))


@pytest.mark.parametrize(
    "text",
    [
        shown(LIST, range(4, 8)) + SERVE.format(8, ""),
        shown(LIST, range(4)) + SERVE.format(8, " --distributed-executor-backend ray"),
        shown(LIST, range(4)) + "The same on the other of the two nodes.\n" + SERVE.format(8, ""),
        shown(LIST, range(4)) + shown(LIST, range(8)) + SERVE.format(8, ""),
        shown(LIST, range(4)) + SERVE.format("$TP", ""),
    ],
)
def test_a_list_that_need_not_be_that_of_the_machine(text: str) -> None:
    assert not told(text)
