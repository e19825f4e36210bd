"""Slips between a server and what is around it: paths, subcommands, measurements, proxies, the other side."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code --port 8000\n"
RUN = """```bash
docker run --gpus all --ipc=host -v /data/weights:/weights -p 8000:8000 vllm/vllm-openai:v0.19.0 \\
  --model /data/weights/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code
```
"""
AMD = """docker run --device=/dev/kfd --device=/dev/dri --group-add video --ipc=host -v /hf:/data/.cache/huggingface \\
  -p 8000:8000 --entrypoint vllm vllm/vllm-openai-rocm:v0.19.0 serve amd/Kimi-K2.5-MXFP4 \\
  --tensor-parallel-size 8 --trust-remote-code
"""
POOLS = """# Two machines with 8x H200, vLLM 0.15.1

Prefill (10.1.0.1):

```bash
export VLLM_NIXL_SIDE_CHANNEL_HOST=10.1.0.1
vllm serve deepseek-ai/DeepSeek-V3.1 --port 8100 -tp 8 CONNECTOR
```

Decode (10.1.0.2):

```bash
export VLLM_NIXL_SIDE_CHANNEL_HOST=10.1.0.2
vllm serve deepseek-ai/DeepSeek-V3.1 --port 8200 -tp 8 CONNECTOR
```

Proxy:

```bash
python toy_proxy_server.py --port 8192 --prefiller-hosts 10.1.0.1 --prefiller-ports 8100 \\
  --decoder-hosts 10.1.0.2 --decoder-ports 8200
```
"""
CONNECTOR = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
POOLS = POOLS.replace("CONNECTOR", CONNECTOR)
LAST = f" {CONNECTOR}\n```\n\nProxy"
BENCH = (
    f"```bash\n{SERVE}```\n\n```bash\nvllm bench serve --model moonshotai/Kimi-K2.5 --host 127.0.0.1 --port 8000\n```\n"
)
CURL = f"{SERVE}\ncurl http://localhost:8000/v1/chat/completions -d '{{}}'\n"
WORDS = (
    "page of a model",
    "path of the host",
    "stands in front of",
    "no subcommand",
    "entry point is",
    "is put behind",
)
WORDS += ("measurement asks", "told to the other side", "cannot bind", "no cache is handed over, and", "takes a list")
WORDS += ("and the servers here", "not a path of the server", "is downloaded to", "not /dev/kfd")


def found(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if any(words in each.message for words in WORDS)]


CASES = (
    (SERVE, "moonshotai/", "https://huggingface.co/moonshotai/", "model"),
    (SERVE, "vllm serve", "vllm --api-key abc serve", "--api-key"),
    (SERVE, "vllm serve", "vllm run", "vllm"),
    (RUN, "vllm-openai", "vllm-openai", "model"),
    (AMD, "--device=/dev/kfd ", "", "--device"),
    (AMD, "--entrypoint vllm", '--entrypoint "vllm serve"', "--entrypoint"),
    (AMD, "/data/.cache/huggingface", "/root/huggingface", "/root/huggingface"),
    (BENCH, "--port 8000\n```\n", "--port 8080\n```\n", "--port"),
    (BENCH, "--host 127.0.0.1 --port 8000", "--base-url http://127.0.0.1:8000/v1", "--base-url"),
    (CURL, "8000/v1/", "8000/", "/chat/completions"),
    (POOLS, "HOST=10.1.0.2", "HOST=10.1.0.1", "VLLM_NIXL_SIDE_CHANNEL_HOST"),
    (POOLS, "HOST=10.1.0.2", "HOST=localhost", "VLLM_NIXL_SIDE_CHANNEL_HOST"),
    (POOLS, LAST, "\n```\n\nProxy", "--kv-transfer-config"),
    (POOLS, "--decoder-ports 8200", "--decoder-ports 8300", "--decoder-ports"),
    (POOLS, "--decoder-ports 8200", "--decoder-ports 8200,8200", "--decoder-ports"),
)


@pytest.mark.parametrize(("text", "old", "new", "where"), CASES)
def test_they_do_not_meet(text: str, old: str, new: str, where: str) -> None:
    assert old in text
    head, _, tail = text.rpartition(old) if old.startswith("--port") else text.partition(old)
    said = found(f"{head}{new}{tail}")
    assert [(each.severity, each.where) for each in said] == [(Severity.WARNING, where)]


@pytest.mark.parametrize(
    "text",
    [
        SERVE,
        AMD,
        BENCH,
        CURL,
        POOLS,
        RUN.replace("--model /data", "--model "),
        RUN.replace("/data/weights:/weights", "/data:/data"),
        SERVE.replace("vllm serve", "vllm --version && vllm serve"),
        BENCH.replace("127.0.0.1 --port 8000", "10.0.0.4 --port 9000"),
        BENCH.replace("--host 127.0.0.1 --port 8000", "--base-url http://127.0.0.1:8000/v1 --endpoint /completions"),
        CURL.replace("localhost:8000/v1/", "localhost:80/"),
        POOLS.replace("10.1.0.2", "$DECODE_IP"),
        POOLS.replace("--decoder-ports 8200", "--decoder-ports 8200 8200"),
    ],
)
def test_they_meet(text: str) -> None:
    assert found(text) == []
