"""A container that may not be root, and whose script installs packages of the system."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_files
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Severity

POD = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: k2}}
spec:
  template:
    spec:
      securityContext:
        {context}
      initContainers:
      - name: fetch
        image: debian:12
        command: ["/bin/sh", "-c", "{first}"]
      containers:
      - name: server
        image: nvidia/cuda:12.8.0-runtime-ubuntu22.04
        command:
        - /bin/bash
        - -c
        - |
          {script}
          vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8
"""
STOPS = "set -e\n          apt-get update && apt-get install -y curl"


def severities(context: str, script: str, first: str = "ls /models") -> list[Severity]:
    text = POD.format(context=context, script=script, first=first)
    found = [each for judged in judge(read_files([("k2.yaml", text)]), Question()) for each in judged.findings]
    return [each.severity for each in found if "not root" in each.message]


@pytest.mark.parametrize(
    ("context", "script", "expected"),
    [
        ("runAsNonRoot: true", STOPS, [Severity.ERROR]),
        ("runAsUser: 1000", STOPS, [Severity.ERROR]),
        ("runAsNonRoot: true", "apt-get update", [Severity.WARNING]),
        (
            "runAsNonRoot: true",
            "set -e\n          if ! which curl; then apt-get install -y curl; fi",
            [Severity.WARNING],
        ),
        ("runAsNonRoot: false", STOPS, []),
        ("fsGroup: 1000", STOPS, []),
        ("runAsNonRoot: true\n        runAsUser: 0", STOPS, []),
        ("runAsNonRoot: true", "set -e\n          sudo apt-get update", []),
        ("runAsNonRoot: true", "set -e\n          apt-get update || true", []),
        ("runAsNonRoot: true", "set -e\n          # apt-get update", []),
        ("runAsNonRoot: true", "set -e\n          pip install vllm", []),
    ],
)
def test_packages_of_the_engines_own_container(context: str, script: str, expected: list[Severity]) -> None:
    assert severities(context, script) == expected


def test_a_container_that_the_engine_waits_for() -> None:
    assert severities("runAsUser: 1000", "ls", first="apk add curl") == [Severity.WARNING]


def test_a_heredoc_of_a_script_does_not_end_the_object() -> None:
    first = STOPS.replace(
        "apt-get", "python3 - <<'PYEOF'\n          print('ready')\n          PYEOF\n          apt-get", 1
    )
    assert severities("runAsNonRoot: true", first) == [Severity.ERROR]
