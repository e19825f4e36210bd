"""Words that Kubernetes and Compose refuse, services that do not reach each other, and the script that joins pods."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

POD = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: kimi
spec:
  selector:
    matchLabels: {app: kimi}
  template:
    metadata:
      labels: {app: kimi}
    spec:
      restartPolicy: Always
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.20.1
          imagePullPolicy: IfNotPresent
          args: [--model, moonshotai/Kimi-K2.6, --tensor-parallel-size, "8", --trust-remote-code]
          resources:
            limits: {nvidia.com/gpu: "8", memory: 256Gi}
          volumeMounts:
            - {name: shm, mountPath: /dev/shm}
      volumes:
        - name: shm
          emptyDir: {medium: Memory, sizeLimit: 32Gi}
"""
COMPOSE = """services:
  vllm:
    image: vllm/vllm-openai:v0.17.0
    ipc: host
    ports:
      - "8000:8000"
    command: --model zai-org/GLM-5-FP8 --tensor-parallel-size 8
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              count: 8
              capabilities: [gpu]
  webui:
    image: ghcr.io/open-webui/open-webui:main
    ports:
      - "3000:8080"
    environment:
      - OPENAI_API_BASE_URL=http://vllm:8000/v1
    depends_on:
      - vllm
"""
GROUP = """apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: vllm
spec:
  leaderWorkerTemplate:
    size: 2
    leaderTemplate:
      spec:
        containers:
          - name: leader
            image: vllm/vllm-openai:v0.11.2
            command:
              - sh
              - -c
              - "bash /w/multi-node-serving.sh leader --ray_cluster_size=$(LWS_GROUP_SIZE);
                vllm serve moonshotai/Kimi-K2-Instruct -tp 8 -pp 2 --trust-remote-code"
    workerTemplate:
      spec:
        containers:
          - name: worker
            image: vllm/vllm-openai:v0.11.2
            command:
              - sh
              - -c
              - "bash /w/multi-node-serving.sh worker --ray_address=$(LWS_LEADER_ADDRESS)"
"""
WORDS = (
    "Kubernetes refuses",
    "not a quantity",
    "no device plugin",
    "depends_on names",
    "reserved device",
    "no driver is",
)
WORDS += ("ipc takes", "the container itself", "no service of that name", "has no /v1", "the script has", "in one word")
WORDS += ("the leader waits", "nothing ends this")


def found(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if any(words in each.message for words in WORDS)]


@pytest.mark.parametrize(
    ("text", "old", "new", "where"),
    [
        (POD, "medium: Memory", "medium: memory", "medium"),
        (POD, "sizeLimit: 32Gi", "sizeLimit: 32GB", "sizeLimit"),
        (POD, "memory: 256Gi", "memory: 256gb", "memory"),
        (POD, "com/gpu:", "com/gpus:", "nvidia.com/gpus"),
        (POD, "Policy: IfNotPresent", "Policy: ifNotPresent", "imagePullPolicy"),
        (COMPOSE, "http://vllm", "http://localhost", "OPENAI_API_BASE_URL"),
        (COMPOSE, "http://vllm", "http://server", "OPENAI_API_BASE_URL"),
        (COMPOSE, ":8000/v1", ":8000", "OPENAI_API_BASE_URL"),
        (COMPOSE, "ipc: host", "ipc: hosts", "ipc"),
        (COMPOSE, "capabilities: [gpu]", "device_ids: []", "capabilities"),
        (COMPOSE, "driver: nvidia", "driver: nvidea", "driver"),
        (COMPOSE, "      - vllm\n", "      - server\n", "depends_on"),
        (GROUP, "serving.sh leader", "serving.sh head", "head"),
        (GROUP, "--ray_cluster_size=$", "--ray-cluster-size=$", "--ray_cluster_size"),
        (GROUP, "--ray_cluster_size=$(LWS_GROUP_SIZE)", "--ray_cluster_size=4", "--ray_cluster_size"),
        (GROUP, "_SIZE);", "_SIZE)", ";"),
    ],
)
def test_it_is_refused_or_reaches_nothing(text: str, old: str, new: str, where: str) -> None:
    assert old in text
    assert [(each.severity, each.where) for each in found(text.replace(old, new, 1))] == [(Severity.WARNING, where)]


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (POD, "", ""),
        (POD, "sizeLimit: 32Gi", "sizeLimit: 32G"),
        (POD, "com/gpu:", "com/gpu.shared:"),
        (COMPOSE, "", ""),
        (COMPOSE, "http://vllm:8000/v1", "http://localhost:11434"),
        (COMPOSE, "http://vllm:8000/v1", "http://host.docker.internal:8000/v1"),
        (COMPOSE, "    depends_on:", "    network_mode: host\n    depends_on:"),
        (COMPOSE, "      - vllm\n", "      vllm:\n        condition: service_healthy\n"),
        (GROUP, "", ""),
        (GROUP, "--ray_cluster_size=$(LWS_GROUP_SIZE)", "--ray_cluster_size=2"),
        (GROUP, "_SIZE);", "_SIZE) &&"),
    ],
)
def test_it_is_taken(text: str, old: str, new: str) -> None:
    assert found(text.replace(old, new, 1)) == []
