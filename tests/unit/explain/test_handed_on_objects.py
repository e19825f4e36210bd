"""Objects of Kubernetes that a shell hands to kubectl or writes into files: they are read as those of files are."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

OBJECTS = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: q
spec:
  selector: {{matchLabels: {{app: q}}}}
  template:
    metadata:
      labels: {{app: q}}
    spec:
      containers:
        - name: v
          image: vllm/vllm-openai:v0.20.0
          args: ["--model", "Qwen/Qwen3-8B", "--port", "{port}"]
          ports:
            - containerPort: {port}
          readinessProbe:
            httpGet: {{ path: /health, port: {port} }}
          resources: {{limits: {{nvidia.com/gpu: 1}}}}
{between}
apiVersion: v1
kind: Service
metadata:
  name: s
spec:
  selector: {{app: q}}
  ports:
    - port: 80
      targetPort: {target}
"""
TWO = "EOF\nkubectl get pods\ncat <<EOF > /tmp/service.yaml"


def told(port: str, target: str, between: str = "---", above: str = "") -> list[Finding]:
    text = OBJECTS.format(port=port, target=target, between=between)
    script = f"#!/bin/bash\n{above}\nkubectl apply -f - <<EOF\n{text}EOF\n"
    return [finding for judged in ask(script) for finding in judged.findings if finding.where == "targetPort"]


@pytest.mark.parametrize("between", ["---", TWO])
def test_a_service_sends_to_another_port(between: str) -> None:
    (finding,) = told("9000", "8000", between)
    assert "port 8000" in finding.message
    assert not told("9000", "9000", between)


@pytest.mark.parametrize("between", ["---", TWO])
def test_a_service_sends_to_a_number_and_the_server_gets_a_variable(between: str) -> None:
    (finding,) = told("${PORT}", "80", between)
    assert finding.remedy == "write targetPort: ${PORT}"
    assert not told("${PORT}", "${PORT}", between)
    assert not told("${PORT}", "80", between, "PORT=80")


def test_a_variable_of_the_shell_is_no_mistake_of_yaml() -> None:
    text = OBJECTS.format(port="${PORT}", target="${PORT}", between="---")
    findings = [finding for judged in ask(f"kubectl apply -f - <<EOF\n{text}EOF\n") for finding in judged.findings]
    assert not [finding for finding in findings if "YAML" in finding.message]
