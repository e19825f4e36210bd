"""Pods that run one engine together."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

LWS = """apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: k2}}
spec:
  leaderWorkerTemplate:
    size: {size}
    leaderTemplate:
      spec:
        containers:
        - name: leader
          image: {leader}
          command: [sh, -c, "bash multi-node-serving.sh leader --ray_cluster_size=$(LWS_GROUP_SIZE);
            vllm serve moonshotai/Kimi-K2-Instruct -tp 8 -pp {pp} --trust-remote-code{more}"]
          resources: {{limits: {{nvidia.com/gpu: '8'}}}}
    workerTemplate:
      spec:
        containers:
        - name: worker
          image: {worker}
          command: [sh, -c, "bash multi-node-serving.sh worker --ray_address=$(LWS_LEADER_ADDRESS)"]
          resources: {{limits: {{nvidia.com/gpu: '8'}}}}
"""
RAY = " --distributed-executor-backend ray"
RAY_CLUSTER = """apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: k2}}
spec:
  headGroupSpec:
    rayStartParams: {{}}
    template:
      spec:
        containers:
        - name: head
          image: {head}
          command: [vllm, serve, moonshotai/Kimi-K2-Instruct, -tp, '16', --trust-remote-code]
          resources: {{limits: {{nvidia.com/gpu: '8'}}}}
  workerGroupSpecs:
  - groupName: gpu
    replicas: 1
    rayStartParams: {{}}
    template:
      spec:
        containers:
        - name: worker
          image: {worker}
          resources: {{limits: {{nvidia.com/gpu: '8'}}}}
"""
V11, V12 = "vllm/vllm-openai:v0.11.0", "vllm/vllm-openai:v0.12.0"


def told(text: str, words: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.where for finding in findings if words in finding.message]


def lws(leader: str = V12, worker: str = V12, size: str = "2", pp: str = "2", more: str = RAY) -> str:
    return LWS.format(leader=leader, worker=worker, size=size, pp=pp, more=more)


@pytest.mark.parametrize(
    "text",
    [
        lws(worker=V11),
        lws(worker="vllm/vllm-openai:latest"),
        RAY_CLUSTER.format(head="rayproject/ray-llm:2.56.0-py312", worker="rayproject/ray-llm:nightly-py312"),
    ],
)
def test_two_releases(text: str) -> None:
    assert told(text, "on the first node") == ["image"]


@pytest.mark.parametrize(
    "text",
    [
        lws(),
        lws(leader="registry.a/k2:1", worker="registry.b/k2:2"),
        lws(leader=V12, worker="{{ .Values.image }}"),
        RAY_CLUSTER.format(head="rayproject/ray-llm:2.56.0", worker="rayproject/ray-llm:2.56.0"),
    ],
)
def test_one_release_or_unknown(text: str) -> None:
    assert told(text, "on the first node") == []


def test_more_ranks_than_the_cluster_has_devices() -> None:
    assert told(lws(pp="4"), "cluster of Ray has") == ["--tensor-parallel-size"]
    assert told(lws(pp="4", size="4"), "cluster of Ray has") == []
    assert told(lws(), "cluster of Ray has") == []
    assert told(lws(pp="$PP"), "cluster of Ray has") == []


POD = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: q}}
spec:
  template:
    spec:
      containers:
      - name: server
        image: vllm/vllm-openai:v0.20.0
        args: [--model, Qwen/Qwen3-32B{args}]
        resources: {{limits: {{nvidia.com/gpu: '{devices}'}}}}
"""


def test_devices_that_stay_idle() -> None:
    def idle(args: str, devices: str) -> list[str]:
        return told(POD.format(args=args, devices=devices), "stay idle")

    assert idle(", -tp, '4'", "8") == ["--tensor-parallel-size"]
    assert idle("", "2") == ["--tensor-parallel-size"]
    assert idle(", -tp, '4', -dp, '2'", "8") == []
    assert idle(", -tp, '8'", "8") == []
    assert idle(", -tp, $TP", "8") == []
    assert idle(", -tp, '4', --data-parallel-rank, '1', -dp, '2'", "8") == []
    docker = "docker run --gpus {} --ipc host vllm/vllm-openai:v0.20.0 --model Qwen/Qwen3-32B -tp 2\n"
    assert told(docker.format("all"), "stay idle") == []
    assert told(docker.format("4"), "stay idle") == ["--tensor-parallel-size"]
