"""Devices that are proposed where none are named: as many on each machine as the command says, and large enough."""

from __future__ import annotations

import pytest

from .judging import ask

SGLANG = "python3 -m sglang.launch_server --trust-remote-code"


@pytest.mark.parametrize(
    ("command", "example"),
    [
        (f"{SGLANG} --model-path moonshotai/Kimi-K2.5 --tp 16 --nnodes 4 --node-rank 0", "4x4xH200"),
        (f"{SGLANG} --model-path moonshotai/Kimi-K2.5 --tp 16 --nnodes 2 --node-rank 0", "2x8xH200"),
        (f"{SGLANG} --model-path moonshotai/Kimi-K2.5 --tp 8", "8xH200"),
        (f"{SGLANG} --model-path moonshotai/Kimi-K3 --tp 8", "8xB300"),
        (f"{SGLANG} --model-path moonshotai/Kimi-K3 --tp 16 --nnodes 2 --node-rank 0", "2x8xH200"),
    ],
)
def test_an_example_is_of_the_commands_machines(command: str, example: str) -> None:
    (judged,) = ask(f"{command} --dist-init-addr 10.0.0.1:5000\n")
    assert judged.cluster is None
    assert judged.unjudged == f"no devices are named: name them with --on {example}"
