"""Where the images of vLLM have the script that joins pods into a Ray cluster."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

POD = """kind: Pod
spec:
  containers:
  - name: head
    image: vllm/vllm-openai:{}
    command: [/bin/bash, -c]
    args:
    - |
      bash /vllm-workspace/examples/{}/multi-node-serving.sh leader --ray_cluster_size=2
      vllm serve moonshotai/Kimi-K2-Thinking -tp 16 --distributed-executor-backend ray
"""


@pytest.mark.parametrize(
    ("tag", "folder", "severities"),
    [
        ("v0.20.2", "online_serving", []),
        ("v0.21.0", "online_serving", [Severity.WARNING]),
        ("v0.21.0", "ray_serving", []),
        ("v0.20.2", "ray_serving", [Severity.WARNING]),
        ("latest", "online_serving", [Severity.WARNING]),
    ],
)
def test_the_folder_of_a_release(tag: str, folder: str, severities: list[Severity]) -> None:
    findings = [each for judged in ask(POD.format(tag, folder)) for each in judged.findings]
    assert [each.severity for each in findings if each.where == "multi-node-serving.sh"] == severities
