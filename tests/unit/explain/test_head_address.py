"""Where a rank of another machine looks for the first."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVER = "vllm serve /w/GLM-5.2-w8a8 -tp 8 --data-parallel-size 2 --data-parallel-size-local 1 "
OTHER = "python -m sglang.launch_server --model-path /w/GLM-5.2 --tp-size 16 --nnodes 2 "


def told(text: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [each.where for each in findings if "own address, and" in each.message or "is a port, and" in each.message]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (
            f"{SERVER}--headless --data-parallel-start-rank 1 --data-parallel-address $local_ip",
            "--data-parallel-address",
        ),
        (f'{SERVER}--data-parallel-start-rank 1 --data-parallel-address="${{LOCAL_IP}}"', "--data-parallel-address"),
        (f"{SERVER}--headless --data-parallel-address $(hostname -I | awk '{{print $1}}')", "--data-parallel-address"),
        (f"{SERVER}--data-parallel-address 12321", "--data-parallel-address"),
        (f"{OTHER}--node-rank 1 --dist-init-addr $POD_IP:5000", "--dist-init-addr"),
        (f"{OTHER}--node-rank 0 --dist-init-addr 5000", "--dist-init-addr"),
    ],
)
def test_no_head(text: str, where: str) -> None:
    assert told(text) == [where]


@pytest.mark.parametrize(
    "text",
    [
        f"{SERVER}--data-parallel-start-rank 0 --data-parallel-address $local_ip",
        f"{SERVER}--headless --data-parallel-start-rank 1 --data-parallel-address $node0_ip",
        f"{SERVER}--headless --data-parallel-start-rank 1 --data-parallel-address 10.0.0.1",
        f"{OTHER}--node-rank 0 --dist-init-addr $POD_IP:5000",
        f"{OTHER}--node-rank 1 --dist-init-addr $MASTER_IP:5000",
        f"{OTHER}--node-rank 1 --dist-init-addr 10.0.0.1:5000",
        f"{OTHER}--node-rank $RANK --dist-init-addr $LOCAL_IP:5000",
    ],
)
def test_a_head(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("interface", "options", "told"),
    [
        ("lo", "--nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:5000", True),
        ("enp48s3", "--nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:5000", False),
        ("lo", "", False),
    ],
)
def test_an_interface_that_leads_nowhere(interface: str, options: str, told: bool) -> None:
    serve = f"python -m sglang.launch_server --model-path a/b --tp-size 16 {options}"
    text = f"export GLOO_SOCKET_IFNAME={interface}\n{serve}\n"
    messages = [each.message for judged in ask(text) for each in judged.findings]
    assert any("is this machine alone" in message for message in messages) is told
