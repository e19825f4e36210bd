"""A frontend and workers in two graphs of services."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

GRAPHS = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: front}
spec:
  services:
    Frontend:
      componentType: frontend
      replicas: 1
---
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: back}
spec:
  services:
    Decode:
      componentType: worker
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.0.1
          command: [python3, -m, dynamo.sglang]
          args: [--model-path, Qwen/Qwen3-32B, --page-size, "16"]
"""
LISTED = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: front}
spec:
  components:
  - name: Frontend
    type: frontend
---
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: back}
spec:
  components:
  - name: decode
    type: decode
    podTemplate:
      spec:
        containers:
        - name: main
          image: nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.3.0
          command: [python3, -m, dynamo.sglang]
          args: [--model-path, Qwen/Qwen3-32B, --page-size, "16"]
"""


def said(text: str) -> list[str]:
    return [each.message for judged in ask(text) for each in judged.findings if "lists no model" in each.message]


@pytest.mark.parametrize(("text", "line"), [(GRAPHS, 10), (LISTED, 9)])
def test_two_graphs(text: str, line: int) -> None:
    (message,) = said(text)
    assert message.startswith(f"line {line}: the workers of back stand in another")


@pytest.mark.parametrize(
    "text",
    [
        GRAPHS.replace("name: back", "name: front"),
        GRAPHS.replace("replicas: 1", "globalDynamoNamespace: true"),
        GRAPHS.replace("    Decode:", "    Front:\n      componentType: frontend\n    Decode:"),
        GRAPHS.replace("replicas: 1", "envs: [{name: DYN_NAMESPACE, value: default-back}]"),
        GRAPHS.replace("componentType: frontend", "componentType: planner"),
        GRAPHS.split("---")[1].lstrip(),
    ],
)
def test_one_or_said_otherwise(text: str) -> None:
    assert not said(text)
