"""`services` of an object of Kubernetes are no services of Compose."""

from __future__ import annotations

from tests.unit.explain.judging import ask

GRAPH = """apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: k2-pools
spec:
  services:
    worker:
      componentType: worker
      replicas: 1
      resources:
        limits:
          gpu: "8"
      sharedMemory:
        size: 64Gi
      extraPodSpec:
        mainContainer:
          image: registry.example.org/sglang-runtime:1.2
          command: [python3, -m, dynamo.sglang]
          args: [--model-path, moonshotai/Kimi-K2-Instruct, --tp, "8", --trust-remote-code]
"""


def test_their_shared_memory_is_not_asked_for_in_words_of_compose() -> None:
    (judged,) = [each for each in ask(GRAPH) if each.layout is not None]
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert not any(each.where == "shm_size" for each in judged.findings)
