"""Host memory that options ask for against the container's limit."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: k2}}
spec:
  template:
    spec:
      containers:
      - name: server
        image: {image}
        args: {args}
        resources: {{limits: {{nvidia.com/gpu: '4', memory: {memory}}}}}
"""
VLLM, LLAMA = "vllm/vllm-openai:v0.26.0", "ghcr.io/ggml-org/llama.cpp:server-cuda-{}"
TP4 = "[--model, Qwen/Qwen3-235B-A22B, -tp, '4'{}]"
GGUF = "[-m, /models/x.gguf, --host, 0.0.0.0{}]"


def told(image: str, args: str, memory: str) -> list[str]:
    text = POD.format(image=image, args=args, memory=memory)
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.where for finding in findings if "of host memory, and" in finding.message]


@pytest.mark.parametrize(
    ("image", "args", "memory", "where"),
    [
        (VLLM, TP4.format(", --cpu-offload-gb, '40'"), "64Gi", "--cpu-offload-gb"),
        (VLLM, TP4.format(", --kv-offloading-size, '200'"), "128Gi", "--kv-offloading-size"),
        (LLAMA.format("b11000"), GGUF.format(", --cache-ram, '40960'"), "16Gi", "--cache-ram"),
        (LLAMA.format("b11000"), GGUF.format(""), "6Gi", "--cache-ram"),
    ],
)
def test_more_than_the_pod_may_use(image: str, args: str, memory: str, where: str) -> None:
    assert told(image, args, memory) == [where]


@pytest.mark.parametrize(
    ("image", "args", "memory"),
    [
        (VLLM, TP4.format(", --cpu-offload-gb, '10'"), "64Gi"),
        (VLLM, TP4.format(", --cpu-offload-gb, $GB"), "64Gi"),
        (VLLM, TP4.format(""), "8Gi"),
        (VLLM, TP4.format(", --kv-offloading-size, '200'"), "$MEMORY"),
        (LLAMA.format("b11000"), GGUF.format(""), "16Gi"),
        (LLAMA.format("b11000"), GGUF.format(", --cache-ram, '0'"), "6Gi"),
        (LLAMA.format("b5200"), GGUF.format(""), "6Gi"),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda", GGUF.format(""), "6Gi"),
    ],
)
def test_what_fits_or_is_not_known(image: str, args: str, memory: str) -> None:
    assert told(image, args, memory) == []


def test_the_limit_of_docker() -> None:
    run = "docker run --gpus all --ipc host -m {} vllm/vllm-openai:v0.26.0 --model a/b -tp 4 --cpu-offload-gb 40\n"
    findings = [finding for judged in ask(run.format("64g")) for finding in judged.findings]
    assert [finding.where for finding in findings if "--memory 64g" in finding.message] == ["--cpu-offload-gb"]
    findings = [finding for judged in ask(run.format("200g")) for finding in judged.findings]
    assert [finding for finding in findings if "--memory" in finding.message] == []
