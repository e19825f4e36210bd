"""A healthcheck of Compose that gives an engine up before its weights are read, where another service waits for it; and
probes of Kubernetes before models whose size their name alone tells."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

COMPOSE = """\
services:
  engine:
    image: vllm/vllm-openai:v0.12.0
    command: --model moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code
    ipc: host
    healthcheck:
      test: ["CMD", "curl", "-f", "http://localhost:8000/health"]
      {more}
  web:
    image: ghcr.io/open-webui/open-webui:main
    depends_on:
      engine: {{condition: {condition}}}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: small}}
spec:
  containers:
  - name: engine
    image: vllm/vllm-openai:v0.12.0
    args: ["--model", "{model}"]
    livenessProbe: {{httpGet: {{path: /health, port: 8000}}, initialDelaySeconds: {delay}, periodSeconds: 5}}
    resources: {{limits: {{nvidia.com/gpu: "1"}}}}
"""


def remedies(more: str, condition: str = "service_healthy") -> list[str]:
    text = COMPOSE.format(more=more, condition=condition)
    found = [finding for judged in ask(text) for finding in judged.findings]
    return [each.remedy for each in found if "healthcheck gives up" in each.message]


@pytest.mark.parametrize("more", ["start_period: 60s", "interval: 10s\n      retries: 3", "start_period: 1m30s"])
def test_594_gb_are_not_read_by_then(more: str) -> None:
    assert remedies(more) == ["write start_period: 16m"]  # 594 GB at 3 GB/s are 198 s


@pytest.mark.parametrize("more", ["start_period: 20m", "interval: 30s\n      retries: 10", "start_period: ${START}"])
def test_enough_or_unknown_is_left(more: str) -> None:
    assert remedies(more) == []


def test_what_nothing_waits_for_is_left() -> None:
    assert remedies("start_period: 60s", "service_started") == []


@pytest.mark.parametrize(
    ("model", "delay", "expected"),
    [
        ("acme/Chat-Llama-8B", 90, [Severity.NOTE]),  # 16 GB by 1 Gbit/s: 128 s
        ("acme/Chat-Llama-8B", 300, []),
        ("acme/Chat-Llama-8B-AWQ", 90, []),
        ("acme/Chat-Llama", 90, []),
    ],
)
def test_a_size_that_the_name_tells(model: str, delay: int, expected: list[Severity]) -> None:
    found = [finding for judged in ask(POD.format(model=model, delay=delay)) for finding in judged.findings]
    assert [each.severity for each in found if "livenessProbe gives up" in each.message] == expected


def test_an_object_between_a_sentence_and_a_log() -> None:
    """Pasted without a fence, as a thread has it."""
    text = f"The probes restart the pod.\n\n{POD.format(model='acme/Chat-Llama-8B', delay=90)}\n"
    for log in ("", "kimi-0   0/1   CrashLoopBackOff   3 (40s ago)   5m\n"):
        found = [finding for judged in ask(f"{text}{log}") for finding in judged.findings]
        assert [each for each in found if "livenessProbe gives up" in each.message]
