"""Where a router sends, and ranks that are in containers of their own network."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SGLANG = "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B"
P, D = f"{SGLANG} --disaggregation-mode prefill", f"{SGLANG} --disaggregation-mode decode --base-gpu-id 1"
ROUTER = "python3 -m sglang_router.launch_router --pd-disaggregation"
PD = f"{P} --port 30000 {{more}}&\n{D} --port 30001 &\n{ROUTER} --prefill {{prefill}} --decode {{decode}} --port 8000\n"
HERE = "http://127.0.0.1:"
NODES = "docker run --gpus all --ipc host {options} lmsysorg/sglang:v0.5.9 python3 -m sglang.launch_server "
NODES += "--model-path moonshotai/Kimi-K2-Instruct --tp-size 16 --trust-remote-code {nodes}\n"
TWO = "--nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:5000"


def told(text: str, words: str) -> list[str]:
    findings = [finding for judged in ask("#!/bin/bash\n" + text) for finding in judged.findings]
    return [finding.where for finding in findings if words in finding.message]


def pools(prefill: str = f"{HERE}30000", decode: str = f"{HERE}30001", more: str = "") -> str:
    return PD.format(prefill=prefill, decode=decode, more=more)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (pools(decode=f"{HERE}30002"), "--decode"),
        (pools(prefill="http://localhost:8100"), "--prefill"),
        (
            f"{SGLANG} --port 8001 &\npython3 -m sglang_router.launch_router --worker-urls {HERE}8001 {HERE}8002\n",
            "--worker-urls",
        ),
    ],
)
def test_a_port_of_no_server(text: str, where: str) -> None:
    assert told(text, "the servers here listen") == [where]


@pytest.mark.parametrize(
    "text",
    [
        pools(),
        pools(decode="http://10.0.0.2:30009"),
        pools(decode="$DECODE_URL"),
        f"{SGLANG} --port $PORT &\n{ROUTER} --prefill {HERE}30000 --decode {HERE}30001\n",
        f"{ROUTER} --prefill {HERE}30000 --decode {HERE}30001\n",
        f"docker run -p 8001:30000 lmsysorg/sglang:v0.5.9 {SGLANG} --port 30000\n"
        f"python3 -m sglang_router.launch_router --worker-urls {HERE}8001\n",
    ],
)
def test_ports_of_servers_or_unknown(text: str) -> None:
    assert told(text, "the servers here listen") == []


def test_another_bootstrap_port() -> None:
    assert told(pools(prefill=f"{HERE}30000 9001"), "bootstrap port is") == ["--prefill"]
    more = "--disaggregation-bootstrap-port 9001 "
    assert told(pools(prefill=f"{HERE}30000 8998", more=more), "bootstrap port is") == ["--prefill"]
    assert told(pools(prefill=f"{HERE}30000 9001", more=more), "bootstrap port is") == []
    assert told(pools(prefill=f"{HERE}30000 8998"), "bootstrap port is") == []
    assert told(pools(), "bootstrap port is") == []


def test_nodes_in_a_bridge() -> None:
    words = "bridge each rank"
    assert told(NODES.format(options="-p 30000:30000", nodes=TWO), words) == ["--network"]
    assert told(NODES.format(options="--network host", nodes=TWO), words) == []
    assert told(NODES.format(options="--net=host", nodes=TWO), words) == []
    assert told(NODES.format(options="-p 30000:30000", nodes=""), words) == []


@pytest.mark.parametrize(
    ("options", "scheme", "told"),
    [("", "grpc", True), ("", "http", False), ("--grpc-mode", "grpc", False), ("--smg-grpc-mode", "grpc", False)],
)
def test_a_router_that_asks_servers_of_http_by_grpc(options: str, scheme: str, told: bool) -> None:
    server = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp-size 8 --trust-remote-code"
    text = f"{server} --port 30000 {options} &\npython3 -m sglang_router.launch_router --worker-urls "
    text += f"{scheme}://127.0.0.1:30000 --port 8000\n"
    messages = [finding.message for judged in ask(text) for finding in judged.findings]
    assert any("asked by gRPC" in message for message in messages) is told
