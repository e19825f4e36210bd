"""Ports that a proxy names: told where nothing of the text listens on one of this machine."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVERS = (
    "vllm serve Qwen/Qwen3-VL-8B-Instruct --port 23001\n\n"
    "vllm serve Qwen/Qwen3-VL-8B-Instruct --port 33003\n\n"
    "vllm serve Qwen/Qwen3-VL-8B-Instruct --port 33006\n\n"
)
PROXY = (
    "python3 proxy_server.py \\\n    --encoder-hosts 127.0.0.1 \\\n    --encoder-ports 23001 \\\n"
    "    --prefiller-hosts 127.0.0.1 \\\n    --prefiller-ports 33003 \\\n    --decoder-hosts 127.0.0.1 \\\n"
    "    --decoder-ports 33006 \\\n    --port 8001\n"
)


def told(text: str) -> list[str]:
    return [
        finding.where
        for judged in ask(text)
        for finding in judged.findings
        if "and the servers here" in finding.message
    ]


def test_a_port_without_a_server() -> None:
    assert told(SERVERS + PROXY.replace("23001 \\", "23001 23002 \\")) == ["--encoder-ports"]
    assert told(SERVERS + PROXY.replace("33003 \\", "33005 \\")) == ["--prefiller-ports"]


@pytest.mark.parametrize(
    "text",
    [
        SERVERS + PROXY,
        SERVERS
        + PROXY.replace("33003 \\", "33005 \\").replace("--prefiller-hosts 127.0.0.1", "--prefiller-hosts 10.0.0.2"),
        SERVERS.replace("33003", "$PORT") + PROXY.replace("33003 \\", "33005 \\"),
        "python launch_online_dp.py --vllm-start-port 23001\n\n"
        + SERVERS
        + PROXY.replace("23001 \\", "23001 23002 \\"),
        SERVERS + "# the second one on port 23002\n" + PROXY.replace("23001 \\", "23001 23002 \\"),
    ],
)
def test_ports_that_may_be_right(text: str) -> None:
    assert not told(text)


def test_servers_of_the_other_half_are_not_shown() -> None:
    server = (
        """vllm serve m --port 7200 --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_consumer"}'"""
    )
    proxy = (
        "python3 proxy.py --prefiller-host localhost --prefiller-port {} --decoder-host localhost --decoder-port {}\n"
    )
    found = [f.where for each in ask(proxy.format(7100, 7200) + server + "\n") for f in each.findings]
    assert "--prefiller-port" not in found
    both = server.replace("7200", "7150").replace("kv_consumer", "kv_producer") + " &\n" + server + "\n"
    found = [f.where for each in ask(proxy.format(7100, 7200) + both) for f in each.findings]
    assert "--prefiller-port" in found


def test_a_server_that_hands_no_cache_over_is_of_neither_half() -> None:
    producer = (
        """vllm serve m --port 7100 --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_producer"}'"""
    )
    alone = "vllm serve m --port 8008\n"
    proxy = "python3 proxy.py --prefiller-host localhost --prefiller-port 7100 --decoder-host localhost"
    text = f"{alone}\n{producer}\n\n{proxy} --decoder-port 7200\n"
    assert told(text) == []
    assert told(text.replace("--prefiller-port 7100", "--prefiller-port 7100 7105")) == ["--prefiller-port"]
