"""Two nodes of one text that say the same rank, and second nodes with an API server of their own."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SGL = "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp-size 16 --nnodes 2"
DP = (
    "vllm serve /models/Mine -tp 8 --data-parallel-size 2 --data-parallel-size-local 1 --data-parallel-address 10.0.0.1"
)


def found(text: str, words: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if words in f"{each.where} {each.message}"]


def two(first: str, second: str, titles: tuple[str, str] = ("Node 0", "Node 1")) -> str:
    return f"{titles[0]}\n\n```bash\n{first}\n```\n\n{titles[1]}\n\n```bash\n{second}\n```\n"


@pytest.mark.parametrize(
    "text",
    [
        two(*2 * [f"{SGL} --dist-init-addr 10.0.0.1:5000 --node-rank 0"]),
        two(
            f"{SGL} --dist-init-addr 10.0.0.1:5000 --node-rank 0", f"{SGL} --dist-init-addr 10.0.0.2:5000 --node-rank 0"
        ),
        two(*2 * [f"{SGL} --node-rank 1"], titles=("## Machine 1", "## Machine 2")),
        two(*2 * [f"{DP} --data-parallel-start-rank 0"], titles=("1. Node 0 `run.sh`", "2. Node 1 `run.sh`")),
        two(*2 * [f"{DP.replace('--data-parallel-size-local 1', '')} --data-parallel-rank 1"]),
        f"# node 0\n{SGL} --node-rank 0\n# node 1\n{SGL} --node-rank 0 --port 3001\n",
    ],
)
def test_both_say_the_same_rank(text: str) -> None:
    assert [each.severity for each in found(text, "each rank is one machine's")] == [Severity.WARNING]


@pytest.mark.parametrize(
    "text",
    [
        two(f"{SGL} --node-rank 0", f"{SGL} --node-rank 1"),
        two(*2 * [f"{SGL} --node-rank 0"], titles=("By TCP:", "By RDMA:")),
        two(*2 * [f"{SGL} --node-rank 0"], titles=("Node 0", "Node 0, the second time")),
        two(*2 * [f"{SGL} --node-rank $RANK"]),
        two(*2 * [f"{SGL} --node-rank 0"], titles=("Node 0", "Node 2")),
        two(*2 * [f"{DP.replace('local 1', 'local 2')} --data-parallel-start-rank 0"]),
        two(*(f"{DP.replace('0.1', end)} --data-parallel-start-rank 0" for end in ("0.1", "0.2"))),
        two(f"{SGL} --node-rank 0 --disaggregation-mode prefill", f"{SGL} --node-rank 0 --disaggregation-mode decode"),
        two(f"{SGL} --node-rank 0", f"{SGL.replace('DeepSeek-R1', 'DeepSeek-V3')} --node-rank 0"),
        two(*2 * [SGL.replace("--nnodes 2", "--nnodes 1 --node-rank 0")]),
        two(f"{SGL} --node-rank 0", f"{SGL} --node-rank 1") + two(f"{SGL} --node-rank 0", f"{SGL} --node-rank 1"),
    ],
)
def test_they_are_two_ranks_or_no_two_machines(text: str) -> None:
    assert found(text, "each rank is one machine's") == []


def test_a_second_node_with_a_server_of_its_own_where_no_devices_are_named() -> None:
    text = two(f"{DP} --data-parallel-start-rank 0", f"{DP} --data-parallel-start-rank 1")
    (finding,) = found(text, "API server of its own")
    assert "--data-parallel-start-rank 1" in finding.message
    assert finding.remedy == "add --headless"


@pytest.mark.parametrize("more", ["--headless", "--data-parallel-hybrid-lb", "--data-parallel-multi-port-external-lb"])
def test_it_has_none_or_is_to_have_one(more: str) -> None:
    text = two(
        f"{DP} --data-parallel-start-rank 0 {more}".replace("--headless", ""),
        f"{DP} --data-parallel-start-rank 1 {more}",
    )
    assert found(text, "API server of its own") == []
