"""Numbers without quotes and labels that do not fit, in objects of Kubernetes."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: apps/v1
kind: Deployment
metadata: {name: kimi}
spec:
  selector: {matchLabels: {app: SELECTOR}}
  template:
    metadata: {labels: {app: kimi, tier: llm}}
    spec:
      containers:
      - name: server
        image: vllm/vllm-openai:v0.19.0
        command: [vllm, serve]
        args: [moonshotai/Kimi-K2.5, --tensor-parallel-size, SIZE, --gpu-memory-utilization, SHARE]
        env: [{name: VLLM_LOGGING_LEVEL, value: LEVEL}]
        resources: {limits: {nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Service
metadata: {name: kimi}
spec: {selector: {app: SERVICE}, ports: [{port: 80, targetPort: 8000}]}
"""
GOOD = {"SELECTOR": "kimi", "SIZE": '"8"', "SHARE": '"0.9"', "LEVEL": "DEBUG", "SERVICE": "kimi"}
KINDS = ("Kubernetes takes texts alone", "and the pods have")


def told(**changed: str) -> list[str]:
    text = POD
    for name, value in {**GOOD, **changed}.items():
        text = text.replace(name, value)
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.where for finding in findings if any(words in finding.message for words in KINDS)]


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"SIZE": "8"}, ["args"]),
        ({"SHARE": "0.9"}, ["args"]),
        ({"SIZE": "8", "SHARE": "0.9"}, ["args", "args"]),
        ({"LEVEL": "1"}, ["env"]),
        ({"LEVEL": "true"}, ["env"]),
        ({"SELECTOR": "kimi-k2"}, ["spec.selector"]),
        ({"SERVICE": "k2"}, ["spec.selector"]),
    ],
)
def test_told(changed: dict[str, str], where: list[str]) -> None:
    assert told(**changed) == where


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"LEVEL": "yes"},
        {"LEVEL": "1.2.3"},
        {"SERVICE": "kimi, tier: llm"},
        {"SERVICE": "kimi, gateway: a"},  # a label that a later patch may add
        {"SELECTOR": "${NAME}"},
        {"SIZE": "'8'"},
    ],
)
def test_quiet(changed: dict[str, str]) -> None:
    assert told(**changed) == []


def test_a_service_may_be_for_another() -> None:
    other = POD.split("---", maxsplit=1)[0].replace("kimi", "router").replace("SELECTOR", "router")
    text = POD + "---\n" + other
    for name, value in {**GOOD, "SERVICE": "router"}.items():
        text = text.replace(name, value)
    findings = [finding for judged in ask(text) for finding in judged.findings]
    assert not [finding for finding in findings if "and the pods have" in finding.message]
