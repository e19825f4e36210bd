"""A claim of one node, and pods on two."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: weights}
spec:
  accessModes: [%s]
  resources: {requests: {storage: 2Ti}}
---
"""
POD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s}
spec:
  replicas: %s
  template:
    spec:
      %s
      containers:
        - name: engine
          image: vllm/vllm-openai:v0.20.0
          command: ["vllm", "serve", "/models/x", "--tensor-parallel-size", "8"]
          resources: {limits: {nvidia.com/gpu: %s}}
          volumeMounts: [{name: m, mountPath: /models}]
      volumes: [{name: m, persistentVolumeClaim: {claimName: weights}}]
---
"""
FREE = "nodeSelector: {pool: gpu}"


def said(text: str) -> int:
    return sum("(Multi-Attach error)" in each.message for judged in ask(text) for each in judged.findings)


def tied(name: str) -> str:
    return f"nodeSelector: {{kubernetes.io/hostname: {name}}}"


@pytest.mark.parametrize(
    "text",
    [
        CLAIM % "ReadWriteOnce" + POD % ("a", 2, FREE, 8),
        CLAIM % "ReadWriteOnce" + POD % ("a", 1, tied("n1"), 4) + POD % ("b", 1, tied("n2"), 4),
        CLAIM % "ReadWriteOncePod" + POD % ("a", 1, FREE, 8) + POD % ("b", 1, FREE, 8),
    ],
)
def test_pods_on_two_nodes(text: str) -> None:
    assert said(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        CLAIM % "ReadWriteMany" + POD % ("a", 2, FREE, 8),
        CLAIM % "ReadWriteOnce, ReadOnlyMany" + POD % ("a", 2, FREE, 8),
        CLAIM % "ReadWriteOnce" + POD % ("a", 2, FREE, 4),
        CLAIM % "ReadWriteOnce" + POD % ("a", 1, FREE, 8),
        CLAIM % "ReadWriteOnce" + POD % ("a", 2, tied("n1"), 8),
        POD % ("a", 2, FREE, 8),
    ],
)
def test_pods_that_may_be_on_one(text: str) -> None:
    assert said(text) == 0


def notes(text: str) -> list[str]:
    found = [each for judged in ask(text) for each in judged.findings if each.where == "claimName"]
    return [each.message for each in found if each.severity is Severity.NOTE]


@pytest.mark.parametrize("hosts", [("n1", "n2"), ("<FIRST>", "<SECOND>")])
def test_claim_whose_mode_is_not_said_on_two_nodes_is_a_note(hosts: tuple[str, str]) -> None:
    (note,) = notes(POD % ("a", 1, tied(hosts[0]), 4) + POD % ("b", 1, tied(hosts[1]), 4))
    assert "weights is mounted by pods that are tied to" in note
    assert all(host in note for host in hosts)


@pytest.mark.parametrize(
    "text",
    [
        POD % ("a", 1, tied("n1"), 4) + POD % ("b", 1, tied("n1"), 4),
        POD % ("a", 1, tied("n1"), 4) + POD % ("b", 1, FREE, 4),
        POD % ("a", 1, tied("n1"), 4)
        + (POD % ("b", 1, tied("n2"), 4)).replace("claimName: weights", "claimName: other"),
        CLAIM % "ReadWriteMany" + POD % ("a", 1, tied("n1"), 4) + POD % ("b", 1, tied("n2"), 4),
        POD % ("a", 1, tied('"{{ .Values.first }}"'), 4) + POD % ("b", 1, tied('"{{ .Values.second }}"'), 4),
    ],
)
def test_claim_of_one_node_or_of_a_known_mode_has_no_note(text: str) -> None:
    assert not notes(text)
