"""Names of ports in a container, and namespaces of the services of one graph."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: vllm
    image: vllm/vllm-openai:v0.20.0
    command: [vllm, serve, Qwen/Qwen3-32B, --port, "8200"]
    ports:
    - containerPort: 8200
      name: vllm
    - containerPort: 5557
      name: %s
"""
GRAPH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: a}
spec:
  services:
    Frontend:
      dynamoNamespace: one
      componentType: frontend
    decode:
      dynamoNamespace: one
      extraPodSpec:
        mainContainer:
          image: registry/sglang-runtime:1
          command: [python3, -m, dynamo.sglang]
          args: [--model-path, Qwen/Qwen3-32B, --disaggregation-mode, decode, --disaggregation-transfer-backend, nixl]
    prefill:
      dynamoNamespace: %s
      extraPodSpec:
        mainContainer:
          image: registry/sglang-runtime:1
          command: [python3, -m, dynamo.sglang]
          args: [--model-path, Qwen/Qwen3-32B, --disaggregation-mode, prefill, --disaggregation-transfer-backend, nixl]
"""


def said(text: str, words: str) -> list[str]:
    return [each.message for judged in ask(text) for each in judged.findings if words in each.message]


def test_two_ports_of_one_name() -> None:
    (message,) = said(POD % "vllm", "Duplicate value")
    assert message.startswith("line 13: a second port of the container is called vllm")
    assert not said(POD % "nixl", "Duplicate value")
    assert not said((POD % "vllm").replace("\n      name: vllm", ""), "Duplicate value")


def test_two_namespaces_of_one_graph() -> None:
    (message,) = said(GRAPH % "two", "never meet")
    assert message.startswith("line 17: the workers for prefill register in two, and those for decode in one")


@pytest.mark.parametrize("space", ["one", "${NAMESPACE}", "<namespace>"])
def test_one_namespace(space: str) -> None:
    assert not said(GRAPH % space, "never meet")
