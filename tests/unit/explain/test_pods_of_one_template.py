"""Several pods of one template that are the nodes of one engine: each needs a rank of its own, and all have to come."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SGLANG = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --nnodes 2"
SGLANG += " --node-rank {rank} --dist-init-addr kimi-0.kimi:5000 --trust-remote-code"
SET = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: kimi}}
spec:
  replicas: {replicas}
  serviceName: kimi
  {policy}
  selector: {{matchLabels: {{app: kimi}}}}
  template:
    metadata: {{labels: {{app: kimi}}}}
    spec:
      containers:
      - name: engine
        image: lmsysorg/sglang:v0.5.5
        command: ["bash", "-c", "{line}"]
        env:
        - name: POD_INDEX
          valueFrom: {{fieldRef: {{fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']"}}}}
        {probe}
        resources: {{limits: {{nvidia.com/gpu: "8"}}}}
"""
LWS = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: kimi}}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        containers:
        - name: engine
          image: lmsysorg/sglang:v0.5.5
          command: ["bash", "-c", "{line}"]
          resources: {{limits: {{nvidia.com/gpu: "8"}}}}
"""
PROBE = "readinessProbe: {httpGet: {path: /health, port: 30000}}"


def said(text: str, words: str) -> list[str]:
    found = [finding for judged in ask(text, "2x8xH200") for finding in judged.findings]
    return [each.remedy for each in found if words in each.message]


def stateful(rank: str = "$POD_INDEX", replicas: int = 2, policy: str = "", probe: str = "") -> str:
    return SET.format(line=SGLANG.format(rank=rank), replicas=replicas, policy=policy, probe=probe)


def test_all_pods_get_the_rank_that_is_written() -> None:
    (remedy,) = said(stateful("0"), "so all have rank 0")
    assert "pod-index" in remedy
    (remedy,) = said(LWS.format(line=SGLANG.format(rank="0")), "so all have rank 0")
    assert "$(LWS_WORKER_INDEX)" in remedy


@pytest.mark.parametrize(
    "text", [stateful(), LWS.format(line=SGLANG.format(rank="$LWS_WORKER_INDEX")), stateful("0", replicas=1)]
)
def test_a_rank_of_its_own_is_left(text: str) -> None:
    assert said(text, "so all have rank") == []


def test_the_second_pod_never_comes() -> None:
    (remedy,) = said(stateful(probe=PROBE), "the second never comes")
    assert "podManagementPolicy: Parallel" in remedy


@pytest.mark.parametrize(
    "text",
    [
        stateful(),
        stateful(probe=PROBE, policy="podManagementPolicy: Parallel"),
        stateful(probe="readinessProbe: {exec: {command: [/bin/true]}}"),
        stateful(probe=PROBE, replicas=1),
    ],
)
def test_pods_that_come_are_left(text: str) -> None:
    assert said(text, "the second never comes") == []
