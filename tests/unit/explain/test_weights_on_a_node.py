"""Pods that mount weights of a node's disk, and what ties them to that node."""

from __future__ import annotations

from tests.unit.explain.judging import ask

POD = """apiVersion: apps/v1
kind: {kind}
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  template:
    spec:
{tied}      containers:
      - name: main
        image: vllm/vllm-openai:v0.25.0
        command: [vllm, serve, /models/Kimi-K2.5, --tensor-parallel-size, "8"]
        volumeMounts:
        - {{name: weights, mountPath: /models}}
      volumes:
      - name: weights
        {volume}
---
"""
HOST = "hostPath: {path: /data/models}"


def _told(name: str = "a", replicas: int = 2, tied: str = "", volume: str = HOST, kind: str = "Deployment") -> bool:
    text = POD.format(name=name, replicas=replicas, tied=tied, volume=volume, kind=kind)
    return any(each.where == "nodeSelector" for one in ask(text) for each in one.findings)


def test_several_pods_without_a_node_are_told() -> None:
    assert _told()


def test_one_pod_and_pods_with_a_node_are_not() -> None:
    assert not _told(replicas=1)
    assert not _told(tied="      nodeSelector: {kubernetes.io/hostname: gpu-1}\n")
    assert not _told(tied="      affinity: {nodeAffinity: {}}\n")


def test_a_claim_and_one_pod_on_each_node_are_not() -> None:
    assert not _told(volume="persistentVolumeClaim: {claimName: weights}")
    assert not _told(kind="DaemonSet")
