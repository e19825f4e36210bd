"""What services of a DynamoGraphDeployment are called and mount."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

HEAD = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: a}
spec:
  pvcs:
    - name: weights
      create: false
  services:
    Frontend:
      componentType: frontend
      extraPodSpec:
        mainContainer:
          command: [python3, -m, dynamo.frontend]
"""
WORKER = """\
    %s:
      componentType: %s
      subComponentType: %s
%s
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.3.0
          command: [python3, -m, dynamo.vllm]
          args: [--model, /weights/qwen, --disaggregation-mode, %s]
"""
MOUNTS = "      volumeMounts: [{name: weights, mountPoint: /weights}]"


def worker(role: str, kind: str = "worker", mounts: str = MOUNTS) -> str:
    return WORKER % (role, kind, role, mounts, role)


def said(text: str, words: str) -> int:
    return sum(words in each.message for judged in ask(text) for each in judged.findings)


def test_a_worker_that_mounts_nothing() -> None:
    text = HEAD + worker("decode") + worker("prefill", mounts="      replicas: 1")
    assert said(text, "the worker prefill mounts nothing") == 1


@pytest.mark.parametrize(
    "text",
    [
        HEAD + worker("decode") + worker("prefill"),
        HEAD + worker("decode", mounts="      replicas: 1") + worker("prefill", mounts="      replicas: 1"),
    ],
)
def test_workers_alike(text: str) -> None:
    assert said(text, "mounts nothing") == 0


@pytest.mark.parametrize(("kind", "told"), [("main", 1), ("worker", 0), ("prefill", 0)])
def test_what_a_worker_is_called(kind: str, told: int) -> None:
    assert said(HEAD + worker("decode", kind), "gives it neither a worker's ports") == told
