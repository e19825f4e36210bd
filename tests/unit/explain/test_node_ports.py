"""Machines of one engine that do not find each other, or start each other's ranks."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

DP = "vllm serve deepseek-ai/DeepSeek-V3.1 -tp 1 --enable-expert-parallel --data-parallel-size 16"
DP += " --data-parallel-size-local 8 --data-parallel-address 10.0.0.1 --data-parallel-rpc-port 13345"
TP = "vllm serve moonshotai/Kimi-K2.5 -tp 16 --nnodes 2 --master-addr 10.0.0.1 --master-port 29501 --trust-remote-code"


def two(first: str, second: str, one: str = "", other: str = "") -> str:
    top = "# two machines with 8x H200, vLLM 0.19.0\n\n"
    return f"{top}Node 0:\n\n```bash\n{one}{first}\n```\n\nNode 1:\n\n```bash\n{other}{second} --headless\n```\n"


def found(text: str, words: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if words in each.message]


SECOND = f"{DP} --data-parallel-start-rank 8"
RANK_0, RANK_1 = f"{TP} --node-rank 0", f"{TP} --node-rank 1"


@pytest.mark.parametrize(
    ("text", "words", "where"),
    [
        (two(DP, SECOND.replace("13345", "13346")), "waits at port 13346", "--data-parallel-rpc-port"),
        (two(RANK_0, RANK_1.replace("29501", "29502")), "waits at port 29502", "--master-port"),
        (two(DP, f"{DP} --data-parallel-start-rank 1"), "ranks 1 to 8 here", "--data-parallel-start-rank"),
        (two(DP, DP), "ranks 0 to 7 here", "--data-parallel-start-rank"),
        (two(DP, SECOND, *2 * ["export HCCL_IF_IP=10.0.0.1\n"]), "no two have the same", "HCCL_IF_IP"),
        (
            two(DP, SECOND, "export VLLM_HOST_IP=10.0.0.2\n", "export VLLM_HOST_IP=10.0.0.1\n"),
            "cannot bind it",
            "--data-parallel-address",
        ),
    ],
)
def test_they_do_not_meet(text: str, words: str, where: str) -> None:
    assert [(each.severity, each.where) for each in found(text, words)] == [(Severity.WARNING, where)]


def test_a_rank_beyond_the_machines() -> None:
    (one,) = found(two(RANK_0, f"{TP} --node-rank 2"), "node 2 of 2")
    assert (one.severity, one.where) == (Severity.ERROR, "--node-rank")


WORDS = (
    "waits at port",
    "on another machine",
    "no two have",
    "cannot bind it",
    "which are 0 to",
    "on this machine, which",
)


@pytest.mark.parametrize(
    "text",
    [
        two(DP, SECOND),
        two(RANK_0, RANK_1),
        two(DP.replace("13345", "$PORT"), SECOND),
        two(DP, f"{DP} --data-parallel-start-rank $START"),
        two(DP, SECOND, "export HCCL_IF_IP=10.0.0.1\n", "export HCCL_IF_IP=10.0.0.2\n"),
        two(DP, SECOND, "export HCCL_IF_IP=$local_ip\n", "export HCCL_IF_IP=$local_ip\n"),
    ],
)
def test_they_meet(text: str) -> None:
    assert [each for words in WORDS for each in found(text, words)] == []


def test_more_ranks_than_the_machine_has_devices() -> None:
    wide = "--tensor-parallel-size 2"
    text = two(DP.replace("-tp 1", wide), SECOND.replace("-tp 1", wide))
    (one,) = found(text, "which has 8")
    assert one.message == "8 data-parallel ranks of 2 devices are 16 on this machine, which has 8"
