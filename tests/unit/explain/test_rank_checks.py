"""Settings that the ranks of one engine must share."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

VLLM = "vllm serve moonshotai/Kimi-K2.5 -tp 16 --trust-remote-code --nnodes 2 --master-addr 10.0.0.1 --node-rank {} {}"
SGLANG = (
    "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --trust-remote-code --tp-size 16 "
    "--nnodes 2 --dist-init-addr 10.0.0.1:5000 --node-rank {} {}"
)
RANKS = (
    "vllm serve moonshotai/Kimi-K2.5 -tp 1 -dp 32 --trust-remote-code --data-parallel-address 10.0.0.1 "
    "--data-parallel-rpc-port 23571 --data-parallel-rank {} {}"
)
DRAFT = (
    """--speculative-config '{"method":"eagle3","model":"lightseekorg/kimi-k2.5-eagle3","num_speculative_tokens":%s}'"""
)
KV = """--kv-transfer-config '{"kv_connector":"MooncakeConnectorV1","kv_role":"kv_consumer","kv_port":"%s"}'"""


def told(start: str, first: str, second: str) -> list[Finding]:
    headless = "--headless" if start is VLLM else ""
    text = f"{start.format(0, first)}\n{start.format(1, second)} {headless}"
    judged = ask(text, "2x8xH200", "")
    assert len(judged) == 1
    return [finding for finding in judged[0].findings if "must agree" in finding.message]


@pytest.mark.parametrize(
    ("start", "first", "second", "where"),
    [
        (RANKS, DRAFT % 1, DRAFT % 3, "--speculative-config"),
        (VLLM, DRAFT % 1, "", "--speculative-config"),
        (VLLM, "--kv-cache-dtype fp8", "", "--kv-cache-dtype"),
        (VLLM, "--block-size 64", "--block-size 128", "--block-size"),
        (VLLM, "--max-model-len 32768", "--max-model-len 65536", "--max-model-len"),
        (VLLM, "", "--enable-expert-parallel", "--enable-expert-parallel"),
        (SGLANG, "--page-size 64", "--page-size 1", "--page-size"),
        (SGLANG, "--speculative-num-steps 3", "--speculative-num-steps 1", "--speculative-num-steps"),
        (SGLANG, "--moe-a2a-backend deepep", "", "--moe-a2a-backend"),
    ],
)
def test_nodes_that_differ(start: str, first: str, second: str, where: str) -> None:
    (finding,) = told(start, first, second)
    assert finding.where == where
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("start", "first", "second"),
    [
        (RANKS, DRAFT % 3, DRAFT % 3),
        (RANKS, DRAFT % "$N", DRAFT % 3),
        (VLLM, "--port 8000", "--port 8001"),
        (VLLM, "--gpu-memory-utilization 0.9", "--gpu-memory-utilization 0.85"),
        (RANKS, KV % 30000, KV % 30100),
        (VLLM, "--max-model-len $LEN", "--max-model-len 65536"),
        (SGLANG, "--host 0.0.0.0", "--mem-fraction-static 0.8"),
        (SGLANG, "--enable-metrics", ""),
    ],
)
def test_what_is_each_nodes_own(start: str, first: str, second: str) -> None:
    assert not told(start, first, second)
