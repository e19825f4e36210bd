"""A server of LMCache beside the engine of a text."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tests.unit.explain.judging import ask

SERVER = "lmcache server --host 0.0.0.0 {}--l1-size-gb 40 --eviction-policy LRU"
APART = "LMCacheMPConnector"


def told(server: str, connector: str, extra: Mapping[str, object] = {}) -> str:
    config = json.dumps({"kv_connector": connector, "kv_role": "kv_both", "kv_connector_extra_config": extra})
    text = f"{server}\nvllm serve deepseek-ai/DeepSeek-V2-Lite --trust-remote-code --kv-transfer-config '{config}'\n"
    wanted = ("lmcache", "LMCacheMP")
    return " | ".join(
        finding.message for judged in ask(text) for finding in judged.findings if finding.message.startswith(wanted)
    )


def test_each_connector_has_its_own_server() -> None:
    assert "speaks with LMCacheMPConnector alone" in told(SERVER.format(""), "LMCacheConnectorV1")
    assert "is the store of LMCacheConnectorV1" in told("lmcache_server localhost 8100", APART)


@pytest.mark.parametrize(
    ("server", "connector"),
    [
        (SERVER.format(""), APART),
        ("lmcache_server localhost 8100", "LMCacheConnectorV1"),
        (SERVER.format("") + "\nlmcache_server localhost 8100", "LMCacheConnectorV1"),
        ("start the lmcache server first", "LMCacheConnectorV1"),
        ("", "LMCacheConnectorV1"),
    ],
)
def test_what_goes_together(server: str, connector: str) -> None:
    assert told(server, connector) == ""


def test_an_address_that_is_not_read() -> None:
    assert "lmcache_mp_url does not count" in told("", APART, {"lmcache_mp_url": "tcp://127.0.0.1:6000"})
    assert told("", APART, {"lmcache_mp_url": "x", "lmcache.mp.port": 5555}) == ""
    assert told("", APART, {"lmcache.mp.server_urls": "tcp://10.0.0.1:6000", "url": 1}) == ""
    assert told("", APART, {"lmcache.mp.mq_timeout": 60}) == ""


@pytest.mark.parametrize(
    ("server", "extra", "wrong"),
    [
        (SERVER.format("--port 6555 "), {"lmcache.mp.port": 6556}, True),
        (SERVER.format("\\\n  --port 6555 "), {}, True),
        (SERVER.format("--port 6555 "), {"lmcache.mp.port": 6555}, False),
        (SERVER.format("--port $PORT "), {}, False),
        (SERVER.format(""), {"lmcache.mp.host": "tcp://127.0.0.1"}, False),
        (SERVER.format("--port 6555 ") + "\n" + SERVER.format("--port 6556 "), {"lmcache.mp.port": 6557}, False),
        ("docker run -p 7000:6555 i " + SERVER.format("--port 6555 "), {"lmcache.mp.port": 7000}, False),
    ],
)
def test_the_port_of_the_server(server: str, extra: Mapping[str, object], wrong: bool) -> None:
    assert ("lmcache server listens on 6555" in told(server, APART, extra)) is wrong


def test_corrected_speaks_with_the_server() -> None:
    config = '{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}'
    text = (
        SERVER.format("--port 6001 ")
        + f"\nvllm serve Qwen/Qwen3-32B --tensor-parallel-size 4 --kv-transfer-config '{config}'\n"
    )
    (judged,) = [judged for judged in ask(text) if judged.engine == "vllm"]
    shown = " ".join(word for line in judged.corrected for word in line.argv)
    assert '"kv_connector":"LMCacheMPConnector"' in shown
    assert '"lmcache.mp.port":6001' in shown


@pytest.mark.parametrize(
    ("install", "start", "found"),
    [
        ("pip install lmcache vllm", "vllm serve Qwen/Qwen3-8B", True),
        ("uv pip install -U vllm 'lmcache'", "vllm serve Qwen/Qwen3-8B --port 81", True),
        ("pip install lmcache==0.3.9", "vllm serve Qwen/Qwen3-8B", True),
        ("pip install vllm  # lmcache comes later", "vllm serve Qwen/Qwen3-8B", False),
        ("pip install lmcache-tools", "vllm serve Qwen/Qwen3-8B", False),
        ("pip install lmcache", "vllm serve Qwen/Qwen3-8B --kv-offloading-backend lmcache", False),
        ("pip install lmcache", "export LMCACHE_CHUNK_SIZE=64\nvllm serve Qwen/Qwen3-8B", False),
        ("pip install lmcache", "vllm serve Qwen/Qwen3-8B $EXTRA", False),
        ("pip install lmcache", "python -m sglang.launch_server --model-path Qwen/Qwen3-8B", False),
    ],
)
def test_what_is_installed_and_not_switched_on(install: str, start: str, found: bool) -> None:
    remarks = [finding for judged in ask(f"{install}\n{start}\n") for finding in judged.findings]
    notes = [each for each in remarks if each.message.startswith("LMCache is installed")]
    assert [each.severity for each in notes] == ["note"] * found
