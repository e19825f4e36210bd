"""A user without a name in the image: told of the releases whose torch asks for it, else nothing."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: vllm
spec:
  template:
    spec:
      securityContext:
        runAsUser: 1000
      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.23.0
        command: ["vllm", "serve", "Qwen/Qwen3-8B"]
        env:
        - name: HOME
          value: /tmp
"""
RUN = "docker run --gpus all --user 1001:1001 -v /data:/data vllm/vllm-openai:v0.22.0 --model Qwen/Qwen3-8B"


def told(text: str) -> bool:
    return any("has no name in this image" in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize("text", [POD, RUN, RUN.replace("1001:1001", "$(id -u):$(id -g)")])
def test_a_user_without_a_name(text: str) -> None:
    assert told(text)


@pytest.mark.parametrize(
    "text",
    [
        POD.replace("1000", "2000"),
        POD.replace("1000", "0"),
        POD.replace("v0.23.0", "v0.21.0"),
        POD.replace("v0.23.0", "v0.29.0"),
        POD.replace("v0.23.0", "latest"),
        POD.replace("vllm/vllm-openai", "registry.example.org/vllm"),
        POD.replace("name: HOME\n          value: /tmp", "name: USER\n          value: vllm"),
        RUN.replace("--gpus", "-e USER=vllm --gpus"),
        RUN.replace("-v /data:/data", "-v /etc/passwd:/etc/passwd:ro"),
        RUN.replace("--user 1001:1001 ", ""),
    ],
)
def test_a_user_with_a_name(text: str) -> None:
    assert not told(text)
