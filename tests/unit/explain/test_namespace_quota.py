"""What a pod asks for against the quota of its namespace, and experts in host memory against the limit of their pod."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: one, namespace: lab}}
spec:
  containers:
  - name: server
    image: vllm/vllm-openai:v0.26.0
    args: [--model, Qwen/Qwen3-235B-A22B, -tp, '8']
    resources:
      limits: {{nvidia.com/gpu: '8', memory: {memory}}}
"""
QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {{name: all{space}}}
spec:
  hard: {{{hard}}}
---
"""
EXPERTS = """\
apiVersion: v1
kind: Pod
metadata: {{name: two}}
spec:
  containers:
  - name: server
    image: ubuntu:24.04
    command: [python, -m, sglang.launch_server, --model, /models/Kimi-K2.5, --kt-weight-path, /models/Kimi-K2.5]
    args: [--kt-method, RAWINT4, --kt-num-gpu-experts, '{count}', --kt-cpuinfer, '60', --tp-size, '2']
    resources:
      limits: {{nvidia.com/gpu: '2', memory: 400Gi}}
"""


def refused(text: str) -> list[Finding]:
    return [each for judged in ask(text) for each in judged.findings if "exceeded quota" in each.message]


@pytest.mark.parametrize(
    ("hard", "memory", "where"),
    [
        ("requests.memory: 256Gi", "300Gi", "resources.requests.memory"),
        ("limits.memory: 0.25Ti", "300Gi", "resources.limits.memory"),
        ("requests.nvidia.com/gpu: '4'", "300Gi", "resources.requests.nvidia.com/gpu"),
        ("requests.memory: 300Gi", "300Gi", ""),
        ("pods: '0'", "300Gi", ""),
    ],
)
def test_a_quota_in_the_text(hard: str, memory: str, where: str) -> None:
    pod = POD.format(memory=memory)
    found = refused(QUOTA.format(space=", namespace: lab", hard=hard) + pod)
    assert [(each.where, each.severity) for each in found] == ([(where, Severity.ERROR)] if where else [])
    assert not refused(QUOTA.format(space=", namespace: other", hard=hard) + pod)


def test_a_quota_whose_namespace_is_not_written_is_no_error() -> None:
    (found,) = refused(QUOTA.format(space="", hard="requests.memory: 256Gi") + POD.format(memory="300Gi"))
    assert found.severity is Severity.WARNING


@pytest.mark.parametrize(
    "told",
    [
        "Namespace `lab` has a **200Gi memory quota**.",
        "The memory quota is 200 GB here.",
        "We have a quota of 200 GiB of memory.",
        "命名空间的内存配额为 200Gi",
    ],
)
def test_a_quota_that_the_text_tells(told: str) -> None:
    (found,) = refused(f"# Notes\n\n{told}\n\n```yaml\n{POD.format(memory='300Gi')}```\n")
    assert found.severity is Severity.WARNING
    assert "300Gi" in found.message
    assert not refused(f"# Notes\n\n{told}\n\n```yaml\n{POD.format(memory='190Gi')}```\n")


@pytest.mark.parametrize(
    "told",
    [
        "Ask for a memory quota of 200Gi at least.",
        "The memory quota was raised from 200Gi to 400Gi.",
        "Namespace `prod` has a 200Gi memory quota.",
        "The disk has a quota of 200 GB.",
    ],
)
def test_another_quota(told: str) -> None:
    assert not refused(f"# Notes\n\n{told}\n\n```yaml\n{POD.format(memory='300Gi')}```\n")


def test_a_manifest_without_a_fence_in_front_of_notes_with_one() -> None:
    text = POD.format(memory="300Gi") + "\n# ---- notes.md ----\n\n## Status\n\nThe memory quota is 200Gi.\n"
    text += "- **It** isn't up\n\n```bash\nkubectl get pods\n```\n"
    (found,) = refused(text)
    assert found.where == "resources.requests.memory"


@pytest.mark.parametrize(("count", "told"), [("20", True), ("200", False), ("$COUNT", False)])
def test_experts_that_the_limit_does_not_hold(count: str, told: bool) -> None:
    findings = [each for judged in ask(EXPERTS.format(count=count)) for each in judged.findings]
    assert any("limits.memory: 400Gi leaves" in each.message for each in findings) == told
