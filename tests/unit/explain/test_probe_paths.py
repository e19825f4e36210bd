"""Probes that ask the engine where it does not answer."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: k2}}
spec:
  template:
    spec:
      containers:
      - name: router
        image: nginx:1.27
        command: [nginx]
        livenessProbe: {{httpGet: {{path: /healthz, port: 8000}}}}
      - name: server
        image: vllm/vllm-openai:v0.20.0
        command: [vllm, serve, moonshotai/Kimi-K2.5, -tp, '8'{more}]
        ports:
        - {{containerPort: 8000, name: http}}
        {probe}:
          httpGet:
            path: {path}
            port: {port}
        resources: {{limits: {{nvidia.com/gpu: '8'}}}}
"""


def told(probe: str, path: str, port: str, more: str = "") -> list[str]:
    text = POD.format(probe=probe, path=path, port=port, more=more)
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.message for finding in findings if "(404)" in finding.message]


@pytest.mark.parametrize(
    ("probe", "path", "port", "killed"),
    [
        ("livenessProbe", "/healthz", "8000", True),
        ("startupProbe", "/health/ready", "http", True),
        ("readinessProbe", "/readyz", "http", False),
    ],
)
def test_an_address_that_no_engine_has(probe: str, path: str, port: str, killed: bool) -> None:
    (message,) = told(probe, path, port)
    assert ("killed" in message) is killed


@pytest.mark.parametrize(
    ("path", "port", "more"),
    [
        ("/health", "8000", ""),
        ("/v1/models", "http", ""),
        ("/healthz", "9000", ""),
        ("/healthz", "8000", ", --port, '8001'"),
    ],
)
def test_addresses_that_may_answer(path: str, port: str, more: str) -> None:
    assert told("livenessProbe", path, port, more) == []
