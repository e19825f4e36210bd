"""Volumes for a download, against the bytes of the weights."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

CHART = """\
modelArtifacts:
  name: Qwen/Qwen3-32B
  uri: "%s"
  size: %s
decode:
  containers:
  - name: vllm
    image: ghcr.io/llm-d/llm-d-cuda:v0.6.0
    modelCommand: custom
    command: [/bin/sh, -c]
    args:
    - |
      exec vllm serve Qwen/Qwen3-32B --port 8000 --tensor-parallel-size 2
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: vllm
    image: vllm/vllm-openai:v0.20.0
    command: [vllm, serve, %s, -tp, "2"]
    volumeMounts:
    - {name: cache, mountPath: /root/.cache/huggingface}
    - {name: shm, mountPath: /dev/shm}
  volumes:
  - name: shm
    emptyDir: {medium: Memory, sizeLimit: 8Gi}
  - name: cache
    %s
"""
CLAIM = """\
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: models}
spec:
  accessModes: [%s]
  storageClassName: %s
  resources:
    requests:
      storage: %s
"""
OF_CLAIM = "persistentVolumeClaim: {claimName: models}"


def said(text: str) -> list[str]:
    return [each.message for judged in ask(text) for each in judged.findings if "for the download" in each.message]


def test_a_chart_makes_a_volume_that_is_too_small() -> None:
    (message,) = said(CHART % ("hf://Qwen/Qwen3-32B", "10Gi"))
    assert message.startswith("line 4: 10Gi for the download, and the weights of Qwen3-32B are at least 61 GiB")


@pytest.mark.parametrize(
    ("uri", "size"),
    [("hf://Qwen/Qwen3-32B", "80Gi"), ("pvc://models/qwen", "10Gi"), ("hf://Qwen/Qwen3-0.6B", "10Gi")],
)
def test_charts_with_room(uri: str, size: str) -> None:
    assert not said(CHART % (uri, size))


def test_a_pod_with_a_small_volume() -> None:
    assert len(said(POD % ("Qwen/Qwen3-32B", "emptyDir: {sizeLimit: 30Gi}"))) == 1
    assert len(said(POD % ("Qwen/Qwen3-32B", OF_CLAIM) + CLAIM % ("ReadWriteOnce", "gp3", "50Gi"))) == 1


@pytest.mark.parametrize(
    "text",
    [
        POD % ("Qwen/Qwen3-32B", "emptyDir: {sizeLimit: 70Gi}"),
        POD % ("Qwen/Qwen3-32B", "emptyDir: {}"),
        POD % ("Qwen/Qwen3-32B-AWQ", "emptyDir: {sizeLimit: 30Gi}"),
        POD % ("/root/.cache/huggingface/qwen", "emptyDir: {sizeLimit: 30Gi}"),
        POD % ("Qwen/Qwen3-32B, --load-format, runai_streamer", "emptyDir: {sizeLimit: 30Gi}"),
        POD % ("Qwen/Qwen3-32B", OF_CLAIM) + CLAIM % ("ReadWriteOnce", "gp3", "100Gi"),
        POD % ("Qwen/Qwen3-32B", OF_CLAIM) + CLAIM % ("ReadWriteOnce", "local-path", "50Gi"),
        POD % ("Qwen/Qwen3-32B", OF_CLAIM) + CLAIM % ("ReadWriteMany", "gp3", "50Gi"),
    ],
)
def test_pods_with_room_or_without_a_limit(text: str) -> None:
    assert not said(text)


DISK = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: vllm
    image: vllm/vllm-openai:v0.20.0
    command: [vllm, serve, Qwen/Qwen3-32B, -tp, "2"]
    resources: {%s: {ephemeral-storage: %s}}
    volumeMounts:
    - {name: cache, mountPath: %s}
  volumes:
  - name: cache
    %s
"""
CACHE = "/root/.cache/huggingface"


@pytest.mark.parametrize(
    "text",
    [
        DISK % ("limits", "20Gi", "/logs", "emptyDir: {}"),
        DISK % ("limits", "20Gi", CACHE, "emptyDir: {}"),
    ],
)
def test_a_pod_that_may_write_less_to_the_disk_of_its_node(text: str) -> None:
    (message,) = said(text)
    assert "20Gi for the download" in message


@pytest.mark.parametrize(
    "text",
    [
        DISK % ("limits", "200Gi", "/logs", "emptyDir: {}"),
        DISK % ("requests", "20Gi", "/logs", "emptyDir: {}"),
        DISK % ("limits", "20Gi", CACHE, "hostPath: {path: /hf}"),
        DISK % ("limits", "20Gi", CACHE, OF_CLAIM),
    ],
)
def test_pods_that_may_write_enough_or_elsewhere(text: str) -> None:
    assert said(text) == []
