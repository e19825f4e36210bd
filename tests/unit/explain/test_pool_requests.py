"""Requests past the proxy of two pools, and pools that do not know each other's servers apart."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

SIDE = """```bash
export VLLM_NIXL_SIDE_CHANNEL_HOST={host}
vllm serve deepseek-ai/DeepSeek-V3.1 --port {port} --tensor-parallel-size 8 \\
  --kv-transfer-config '{{"kv_connector": "{connector}", "kv_role": "{role}", "engine_id": "{name}"}}'
```
"""
PREFILL = {"host": "10.1.0.1", "port": "8100", "role": "kv_producer", "name": "p", "connector": "NixlConnector"}
DECODE = {"host": "10.1.0.2", "port": "8200", "role": "kv_consumer", "name": "d", "connector": "NixlConnector"}
PROXY = "python toy_proxy_server.py --port 8192 {} {}"
OF_PREFILL = "--prefiller-hosts 10.1.0.1 --prefiller-ports 8100"
OF_DECODE = "--decoder-hosts 10.1.0.2 --decoder-ports 8200"
CURL = 'curl http://{}/v1/completions -d \'{{"model": "deepseek-ai/DeepSeek-V3.1", "prompt": "a"}}\''
WORDS = (
    *("past the proxy", "nothing of the text listens", "is named for prefill and for decode", "is told no server"),
    *(
        "over what this side knows of itself",
        "they do not speak",
        "is told no address",
        "on its own machine",
        "has no --",
    ),
    *("and the servers here listen",),
)


def guide(*, proxy: str = "", asked: str = "localhost:8192", **of_decode: str) -> str:
    lines = ["# vLLM 0.15.1, two machines with 8x H200", "Prefill:", SIDE.format(**PREFILL), "Decode:"]
    lines += [SIDE.format(**{**DECODE, **of_decode}), "Proxy:", "```bash", proxy or PROXY.format(OF_PREFILL, OF_DECODE)]
    return "\n".join([*lines, CURL.format(asked), "```", ""])


def found(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if any(words in each.message for words in WORDS)]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (guide(asked="10.1.0.1:8100"), "curl"),
        (guide(asked="10.1.0.2:8200"), "curl"),
        (guide(asked="localhost:8193"), "curl"),
        (guide(proxy=PROXY.format(OF_PREFILL, "--decoder-hosts 10.1.0.1 --decoder-ports 8100")), "--decoder-hosts"),
        (guide(proxy=PROXY.format("", OF_DECODE)), "--prefiller-hosts"),
        (guide(proxy=PROXY.format("--prefill-hosts 10.1.0.1 --prefiller-ports 8100", OF_DECODE)), "--prefill-hosts"),
        (guide(name="p"), "--kv-transfer-config.engine_id"),
        (guide(connector="MooncakeConnector"), "--kv-transfer-config.kv_connector"),
        (guide(host="0.0.0.0"), "VLLM_NIXL_SIDE_CHANNEL_HOST"),
        (guide().replace("export VLLM_NIXL_SIDE_CHANNEL_HOST=10.1.0.2\n", ""), "VLLM_NIXL_SIDE_CHANNEL_HOST"),
        (guide().replace(" --port 8200", ""), "--decoder-ports"),
    ],
)
def test_nothing_is_handed_over(text: str, where: str) -> None:
    assert where in [each.where for each in found(text)]


@pytest.mark.parametrize(
    "text",
    [
        guide(),
        guide(asked="10.1.0.3:8192"),
        guide(asked="$PROXY:8192"),
        guide(connector="MultiConnector"),
        guide(proxy=PROXY.format("--prefiller-host 10.1.0.1 --prefiller-port 8100", OF_DECODE)),
        guide(asked="10.1.0.1:8100") + "\n```bash\n" + CURL.format("localhost:8192") + "\n```\n",
    ],
)
def test_it_goes_through_the_proxy(text: str) -> None:
    assert found(text) == []
