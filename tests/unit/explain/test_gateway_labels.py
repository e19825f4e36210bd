"""The label of a gateway and the name of the server: told where they differ."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: coder
  labels:
    model.aibrix.ai/name: NAME
spec:
  template:
    metadata:
      labels:
        model.aibrix.ai/name: NAME
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.10.0
        command: ["vllm", "serve", "Qwen/Qwen3-8B", "--served-model-name", "qwen3-8b"]
"""


def told(text: str) -> bool:
    return any("the gateway sends requests" in finding.message for judged in ask(text) for finding in judged.findings)


def test_two_names() -> None:
    assert told(POD.replace("NAME", "qwen3"))
    assert told(POD.replace("NAME", "qwen3-8b").replace(', "--served-model-name", "qwen3-8b"', ""))


@pytest.mark.parametrize(
    "text",
    [
        POD.replace("NAME", "qwen3-8b"),
        POD.replace("NAME", "{{ .Values.name }}"),
        POD.replace("NAME", "qwen3").replace('"qwen3-8b"', '"qwen3-8b", "qwen3"'),
        POD.replace("NAME", "qwen3").replace('"qwen3-8b"', '"qwen3-8b", "--enable-lora"'),
        POD.replace("NAME", "qwen3").replace("model.aibrix.ai/name", "app"),
    ],
)
def test_one_name(text: str) -> None:
    assert not told(text)
