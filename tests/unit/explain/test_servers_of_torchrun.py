"""torchrun in front of a server, which starts its ranks itself."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

VLLM = "-m vllm.entrypoints.openai.api_server --model moonshotai/Kimi-K2.5 --trust-remote-code -tp 8"
SGLANG = "-m sglang.launch_server --model-path Qwen/Qwen3-235B-A22B --tp 4 --port 31000"


def said(text: str, version: str = "") -> list[Finding]:
    findings = [finding for judged in ask(text + "\n", version=version) for finding in judged.findings]
    return [finding for finding in findings if finding.where == "torchrun"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"torchrun --nproc_per_node=8 {VLLM}", "8 servers"),
        (f"torchrun --standalone --nproc-per-node 4 {SGLANG}", "4 servers"),
        (f"srun --nodes=2 torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d {VLLM}", "4 servers"),
        (f"torchrun --nproc-per-node gpu {SGLANG}", "a server for each device"),
    ],
)
def test_several_servers_of_one_start(text: str, count: str) -> None:
    (finding,) = said(text)
    assert finding.severity is Severity.ERROR
    assert count in finding.message


def test_how_several_machines_are_joined_instead() -> None:
    text = f"torchrun --nnodes=2 --nproc_per_node=4 {VLLM}"
    assert "--nnodes 2 --node-rank R" in said(text)[0].remedy
    assert "--headless" in said(text)[0].remedy
    assert "Ray" in said(text, "0.10.2")[0].remedy
    assert "--nnodes" not in said(f"torchrun --nproc_per_node=8 {VLLM}")[0].remedy


def test_shares_that_may_fit_beside_each_other() -> None:
    (finding,) = said(f"torchrun --nproc_per_node=2 {VLLM} --gpu-memory-utilization 0.4")
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    "text",
    [
        f"torchrun --nproc_per_node=1 {VLLM}",
        f"torchrun {SGLANG}",
        f"torchrun --nproc_per_node=8 {VLLM} --distributed-executor-backend external_launcher",
        f"python {VLLM}",
    ],
)
def test_one_server_or_ranks_of_the_launcher(text: str) -> None:
    assert said(text) == []
