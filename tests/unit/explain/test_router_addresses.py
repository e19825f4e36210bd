"""Addresses in the words and in the files of routers."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

ROUTER = "python -m sglang_router.launch_router"
FILE = """cat > pools.yaml <<EOF
hostname: localhost
port: 8000
{}
EOF
{}trtllm-serve disaggregated -c pools.yaml
"""
POOL = "{}:\n  num_instances: {}\n  urls: {}\n"
CONTEXT = POOL.format("context_servers", 1, "['localhost:8001']")
GENERATION = POOL.format("generation_servers", 2, "['localhost:8002', 'localhost:8003']")


def told(text: str, words: str) -> list[str]:
    return [f.where for judged in ask(text) for f in judged.findings if words in f.message]


@pytest.mark.parametrize(
    ("options", "words", "count"),
    [
        ("--worker-urls http://a:1000,http://b:1000", "this is one word", 1),
        ("--worker-urls http://a:1000 http://b:1000", "this is one word", 0),
        ("--worker-urls a:1000 b:1000", "has no scheme", 1),
        ("--worker-urls grpc://a:1000", "has no scheme", 0),
        ("--pd-disaggregation --prefill http://a:1000 8998 --decode http://b:1000", "has no scheme", 0),
        ("--prefill http://a:1000 8998 --decode http://b:1000", "reads no --prefill and no --decode", 1),
        ("--pd-disaggregation --prefill http://a:1000 --decode http://b:1000", "reads no", 0),
        ("$OPTIONS --prefill http://a:1000", "reads no", 0),
        ("--pd-disaggregation --policy random", "no server is named", 1),
        ("--pd-disaggregation --prefill http://a:1000 --decode http://b:1000", "no server is named", 0),
        ("--pd-disaggregation --service-discovery --prefill-selector a=b", "no server is named", 0),
        ("--policy random", "no server is named", 0),
    ],
)
def test_words_of_a_router(options: str, words: str, count: int) -> None:
    assert len(told(f"{ROUTER} {options}", words)) == count


@pytest.mark.parametrize(
    ("content", "words", "where"),
    [
        (CONTEXT + GENERATION.replace("s: 2", "s: 1"), "are not as many", ["generation_servers.num_instances"]),
        (CONTEXT + GENERATION, "are not as many", []),
        (CONTEXT + GENERATION.replace("s: 2", "s: 1") + "disagg_cluster:\n  cluster_uri: etcd://a:1\n", "as many", []),
        (CONTEXT.replace("localhost", "http://localhost") + GENERATION, "one colon", ["context_servers.urls"]),
        (CONTEXT.replace("localhost", "${HOST}") + GENERATION, "one colon", []),
        (
            "tensor_parallel_size: 4\n" + CONTEXT + "  tensor_parallel_size: 8\n",
            "where they differ",
            ["context_servers.tensor_parallel_size"],
        ),
        ("tensor_parallel_size: 4\n" + CONTEXT + "  tensor_parallel_size: 4\n", "where they differ", []),
        (CONTEXT.replace("servers", "server") + GENERATION, "passes over", ["context_server"]),
        (CONTEXT + GENERATION, "passes over", []),
    ],
)
def test_files(content: str, words: str, where: list[str]) -> None:
    assert told(FILE.format(content, ""), words) == where


def test_a_port_of_no_server() -> None:
    servers = "".join(f"trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 4 --port {port} &\n" for port in (8001, 8002))
    assert told(FILE.format(CONTEXT + GENERATION, servers), "listen on 8001, 8002") == ["generation_servers.urls"]
    more = servers + "trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 4 --port 8003 &\n"
    assert told(FILE.format(CONTEXT + GENERATION, more), "listen on") == []


@pytest.mark.parametrize(
    ("top", "there", "told"),
    [
        ("hostname: localhost\nport: 8001\n", "localhost:8001", True),
        ("hostname: 0.0.0.0\nport: 8001\n", "127.0.0.1:8001", True),
        ("hostname: node1\nport: 8001\n", "node1:8001", True),
        ("", "localhost:8000", True),
        ("hostname: localhost\nport: 8000\n", "localhost:8001", False),
        ("hostname: node1\nport: 8001\n", "node2:8001", False),
        ("hostname: 0.0.0.0\nport: 8001\n", "node2:8001", False),
    ],
)
def test_a_server_at_the_address_of_its_router(top: str, there: str, told: bool) -> None:
    file = top + POOL.format("context_servers", 1, f'["{there}"]')
    file += POOL.format("generation_servers", 1, '["localhost:8009"]')
    text = f"cat > pools.yaml <<EOF\n{file}EOF\ntrtllm-serve disaggregated -c pools.yaml\n"
    messages = [finding.message for judged in ask(text) for finding in judged.findings]
    assert any("the router's own address" in message for message in messages) is told
