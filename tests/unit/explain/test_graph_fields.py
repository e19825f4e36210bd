"""Objects of Kubernetes around Dynamo: fields of a graph, quantities, and files of ConfigMaps."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

GRAPH = """apiVersion: v1
kind: ConfigMap
metadata:
  name: llm-config
data:
  config.yaml: |
    tensor_parallel_size: 8
---
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: kimi
spec:
  backendFramework: trtllm
  envs:
    - name: HF_HOME
      value: /models
  services:
    Worker:
      componentType: worker
      sharedMemory:
        size: 80Gi
      replicas: 1
      resources:
        limits:
          gpu: "8"
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:1.0.0
          command: [python3, -m, dynamo.trtllm]
          args:
            - --model-path
            - nvidia/Kimi-K2.5-NVFP4
            - --extra-engine-args
            - /opt/configs/config.yaml
          volumeMounts:
            - mountPath: /opt/configs
              name: settings
        volumes:
          - name: settings
            configMap:
              name: llm-config
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: k25}
spec:
  containers:
    - name: sglang
      image: lmsysorg/sglang:v0.5.9
      command: [python3, -m, sglang.launch_server]
      args: [--model-path, moonshotai/Kimi-K2.5, --tp, "8", --trust-remote-code]
      resources:
        requests: {memory: 512Gi, nvidia.com/gpu: 8}
        limits: {memory: 512Gi, nvidia.com/gpu: 8}
"""


def told(text: str, words: str) -> list[str]:
    return [f.where for judged in ask(text) for f in judged.findings if words in f.message]


@pytest.mark.parametrize(
    ("before", "after", "words", "where"),
    [
        ("trtllm\n  envs", "tensorrt-llm\n  envs", "refuses the object", "backendFramework"),
        ("componentType: worker", "componentType: workers", "does not know", "componentType"),
        ("replicas: 1", 'replicas: "1"', "takes a number", "replicas"),
        ('gpu: "8"', "gpu: 8", "takes a text", "resources.limits.gpu"),
        ('gpu: "8"', 'gpus: "8"', "refused or dropped", "resources.limits"),
        ("    - name: HF_HOME\n      value: /models", "    HF_HOME: /models", "is a list", "envs"),
        ("80Gi", "80GB", "not a quantity", "size"),
        ("              name: settings", "              name: setting", "has no volume", "volumeMounts"),
        ("              name: llm-config", "              name: llm-configs", "which nothing mounts", "configMap"),
        ("/opt/configs/config.yaml", "/opt/configs/engine.yaml", "there is no such file", "engine.yaml"),
        ("mountPath: /opt/configs", "mountPath: /opt/configs/config.yaml", "without subPath", "mountPath"),
    ],
)
def test_graph(before: str, after: str, words: str, where: str) -> None:
    assert before in GRAPH
    assert told(GRAPH.replace(before, after), words) == [where]
    assert told(GRAPH, words) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("trtllm\n  envs", "$FRAMEWORK\n  envs"),
        ("componentType: worker", "componentType: prefill"),
        ("componentType: worker", "componentType: my-thing"),
        ('gpu: "8"', 'gpu: "8"\n          custom:\n            rdma/ib: "8"'),
        ("/opt/configs/config.yaml", "/opt/others/engine.yaml"),
        ("nvidia.com/v1alpha1", "nvidia.com/v1beta1"),
    ],
)
def test_quiet(before: str, after: str) -> None:
    text = GRAPH.replace(before, after)
    for words in ("refuses the object", "does not know", "takes a", "dropped", "no such file", "nothing mounts"):
        assert told(text, words) == []


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        (
            "{memory: 512Gi, nvidia.com/gpu: 8}\n        limits",
            "{memory: 512GB, nvidia.com/gpu: 8}\n        limits",
            "memory",
        ),
        ("limits: {memory: 512Gi, nvidia.com/gpu: 8}", "limits: {memory: 512Gi}", "nvidia.com/gpu"),
    ],
)
def test_pod(before: str, after: str, where: str) -> None:
    assert told(POD.replace(before, after), "refuses the object") == [where]


def test_quiet_pod() -> None:
    assert told(POD, "refuses the object") == []
    assert told(POD.replace("512Gi", "512G"), "refuses the object") == []
    assert told(POD.replace("512Gi", "512e9"), "refuses the object") == []
