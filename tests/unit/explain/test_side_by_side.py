"""Two servers that one script starts on one machine."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

A = "CUDA_VISIBLE_DEVICES=0,1 vllm serve Qwen/Qwen3-8B -tp 2 --port 8100"
B = "CUDA_VISIBLE_DEVICES=2,3 vllm serve Qwen/Qwen3-8B -tp 2 --port 8200"
SGLANG = "python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp-size 2"


def told(text: str, words: str) -> list[str]:
    findings = [finding for judged in ask("#!/bin/bash\n" + text) for finding in judged.findings]
    return [finding.where for finding in findings if words in finding.message]


@pytest.mark.parametrize(
    "text",
    [
        f"{A} &\n{B.replace('8200', '8100')} &\nwait\n",
        f"{A} > a.log 2>&1 &\nsleep 60\n{B.replace('8200', '8100')}\n",
        f"{SGLANG} --disaggregation-mode prefill &\n"
        f"{SGLANG} --disaggregation-mode decode --base-gpu-id 2 &\npython3 -m sglang_router.launch_router\n",
    ],
)
def test_one_port_twice(text: str) -> None:
    assert told(text, "address already in use") == ["--port"]


@pytest.mark.parametrize(
    "text",
    [
        f"{A} &\n{B} &\nwait\n",
        f"{A}\n{B.replace('8200', '8100')}\n",
        f"{A} &\nkill %1\n{B.replace('8200', '8100')} &\n",
        f"{A} &\nwait $!\n{B.replace('8200', '8100')} &\n",
        f"# node 0\n{A} &\n# node 1\n{B.replace('8200', '8100')} &\n",
        f"if [ $1 = a ]; then\n{A} &\nelse\n{B.replace('8200', '8100')} &\nfi\n",
        f"{A} --host 10.0.0.1 &\n{B.replace('8200', '8100')} --host 10.0.0.2 &\n",
        f'ssh a "{A}" &\nssh b "{B.replace("8200", "8100")}" &\n',
        f"{A} &\n{B.replace('8200', '$PORT')} &\n",
        "vllm serve a/b -dp 2 --data-parallel-size-local 1 &\n"
        "vllm serve a/b -dp 2 --data-parallel-size-local 1 --headless --data-parallel-start-rank 1 &\n",
    ],
)
def test_ports_that_differ_or_are_not_known(text: str) -> None:
    assert told(text, "address already in use") == []


@pytest.mark.parametrize(
    "text",
    [
        f"{A} &\n{B.replace('2,3', '1,2')} &\n",
        f"{A} --gpu-memory-utilization 0.6 &\n{B.replace('2,3', '0,1')} --gpu-memory-utilization 0.5 &\n",
        "vllm serve Qwen/Qwen3-8B --port 8001 &\nvllm serve Qwen/Qwen3-4B --port 8002 &\n",
    ],
)
def test_one_device_twice(text: str) -> None:
    assert told(text, "takes most of device") == ["CUDA_VISIBLE_DEVICES"]


@pytest.mark.parametrize(
    "text",
    [
        f"{A} &\n{B} &\n",
        f"{A} --gpu-memory-utilization 0.5 &\n{B.replace('2,3', '0,1')} --gpu-memory-utilization 0.4 &\n",
        f"{A} &\n{B.replace('2,3', '$GPUS')} &\n",
        f"{SGLANG} &\n{SGLANG} --base-gpu-id 2 --port 30001 &\n",
        f"{A} --kv-cache-memory-bytes 4G &\n{B.replace('2,3', '0,1')} &\n",
        "llama-server -m a.gguf --port 8001 &\nllama-server -m b.gguf --port 8002 &\n",
    ],
)
def test_devices_that_differ_or_are_shared(text: str) -> None:
    assert told(text, "takes most of device") == []


NIXL = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
PORT = "VLLM_NIXL_SIDE_CHANNEL_PORT"


@pytest.mark.parametrize(
    "text",
    [
        f"{A} {NIXL} &\n{B} {NIXL} &\n",
        f"{PORT}=5700 {A} {NIXL} &\n{PORT}=5700 {B} {NIXL} &\n",
        f"1. prefill:\n```bash\n{A} {NIXL}\n```\n2. decode:\n```bash\n{B} {NIXL}\n```\n",
    ],
)
def test_one_side_channel(text: str) -> None:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    assert [finding.where for finding in findings if "no cache is handed over" in finding.message] == [PORT]


@pytest.mark.parametrize(
    "text",
    [
        f"{PORT}=5700 {A} {NIXL} &\n{PORT}=5701 {B} {NIXL} &\n",
        f"{PORT}=$P {A} {NIXL} &\n{PORT}=$Q {B} {NIXL} &\n",
        f"{A} {NIXL} &\n{B} &\n",
        f"# node 0\n{A} {NIXL} &\n# node 1\n{B} {NIXL} &\n",
        f"1. prefill:\n```bash\n{A} {NIXL}\n```\n2. decode:\n```bash\n{B.replace('2,3', '0,1')} {NIXL}\n```\n",
        f"1. prefill:\n```bash\n{A} {NIXL}\n```\n2. decode:\n```bash\nHOST_IP=10.0.0.2 {B} {NIXL}\n```\n",
    ],
)
def test_side_channels_that_differ_or_are_apart(text: str) -> None:
    assert told(text, "no cache is handed over") == []


def test_one_bootstrap_port() -> None:
    prefill = f"{SGLANG} --disaggregation-mode prefill"
    two = f"{prefill} --port 30000{{}} &\n{prefill} --port 30001 --base-gpu-id 2{{}} &\n"
    assert told(two.format("", ""), "same bootstrap port") == ["--disaggregation-bootstrap-port"]
    own = (" --disaggregation-bootstrap-port 8998", " --disaggregation-bootstrap-port 8999")
    assert told(two.format(*own), "same bootstrap port") == []
    decode = two.format("", "").replace("mode prefill --port 30001", "mode decode --port 30001")
    assert told(decode, "same bootstrap port") == []
