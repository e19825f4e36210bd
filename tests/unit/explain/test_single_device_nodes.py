"""Pods that ask for more GPUs than a DGX Spark has."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

POD = """apiVersion: v1
kind: Pod
metadata: {{name: kimi{name}}}
spec:
  {select}
  containers:
  - name: server
    image: vllm/vllm-openai:v0.20.0
    args: [--model, moonshotai/Kimi-K2.6, -tp, '8', --trust-remote-code]
    resources: {{limits: {{nvidia.com/gpu: '{gpus}'}}}}
"""
SELECTOR = "nodeSelector:\n    lab.example/dgx-spark: 'true'"
AFFINITY = (
    "affinity:\n    nodeAffinity:\n      preferredDuringSchedulingIgnoredDuringExecution:\n      - weight: 100\n"
    "        preference:\n          matchExpressions:\n          - key: nvidia-dgx-spark/fast\n"
    "            operator: Exists"
)


def told(select: str, gpus: str = "8", name: str = "") -> list[Severity]:
    text = POD.format(select=select, gpus=gpus, name=name)
    return [each.severity for one in ask(text) for each in one.findings if "DGX Sparks" in each.message]


@pytest.mark.parametrize("select", [SELECTOR, AFFINITY])
def test_a_spark_has_one(select: str) -> None:
    assert told(select) == [Severity.WARNING]


@pytest.mark.parametrize(
    ("select", "gpus", "name"),
    [
        (SELECTOR, "1", ""),
        (SELECTOR.replace("dgx-spark", "dgx-h200"), "8", ""),
        ("restartPolicy: Never", "8", "-not-for-dgx-spark"),
        (SELECTOR.replace("lab", "# not for a dgx-spark: lab").replace("dgx-spark: 'true'", "b: 'c'"), "8", ""),
    ],
)
def test_other_pods_and_nodes(select: str, gpus: str, name: str) -> None:
    assert told(select, gpus, name) == []
