"""Probes that give up while the weights are read."""

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
      - name: server
        image: vllm/vllm-openai:v0.20.0
        args: [--model, {model}, -tp, '8'{more}]
        livenessProbe: {{httpGet: {{path: /health, port: 8000}}{liveness}}}
        {startup}
        resources: {{limits: {{nvidia.com/gpu: '8'}}}}
"""
K2, SMALL = "moonshotai/Kimi-K2.5", "Qwen/Qwen3-8B"


def told(liveness: str = "", startup: str = "", model: str = K2, more: str = "") -> list[str]:
    text = POD.format(liveness=liveness, startup=startup, model=model, more=more)
    findings = [finding for judged in ask(text) for finding in judged.findings]
    read = [finding for finding in findings if "gives up" in finding.message and "at 1 Gbit/s" not in finding.message]
    return [finding.where for finding in read]


@pytest.mark.parametrize(
    ("liveness", "startup", "where"),
    [
        ("", "", "livenessProbe"),
        (", initialDelaySeconds: 120", "", "livenessProbe"),
        (", initialDelaySeconds: 60, periodSeconds: 10, failureThreshold: 5", "", "livenessProbe"),
        ("", "startupProbe: {httpGet: {path: /health, port: 8000}, failureThreshold: 6}", "startupProbe"),
    ],
)
def test_probes_that_end_too_early(liveness: str, startup: str, where: str) -> None:
    assert told(liveness, startup) == [where]


@pytest.mark.parametrize(
    ("liveness", "startup", "model", "more"),
    [
        (", initialDelaySeconds: 600", "", K2, ""),
        (", failureThreshold: 60", "", K2, ""),
        ("", "startupProbe: {httpGet: {path: /health, port: 8000}, failureThreshold: 180}", K2, ""),
        ("", "startupProbe: {exec: {command: [test, -f, /tmp/ready]}}", K2, ""),
        ("", "startupProbe: {httpGet: {path: /health, port: 8000}, failureThreshold: '$N'}", K2, ""),
        ("", "", SMALL, ""),
        ("", "", "/models/served", ""),
        ("", "", K2, ", --load-format, runai_streamer"),
    ],
)
def test_probes_that_wait_or_are_not_known(liveness: str, startup: str, model: str, more: str) -> None:
    assert told(liveness, startup, model, more) == []


MOUNTED = "volumeMounts: [{name: cache, mountPath: /data/.cache}]"


@pytest.mark.parametrize(
    ("liveness", "more", "model", "count"),
    [
        (", initialDelaySeconds: 120, periodSeconds: 5", "", SMALL, 1),
        (", initialDelaySeconds: 600", "", SMALL, 0),
        (", initialDelaySeconds: 120, periodSeconds: 5", MOUNTED, SMALL, 0),
        (", initialDelaySeconds: 120, periodSeconds: 5", "", "/models/Qwen3-8B", 0),
        (
            ", initialDelaySeconds: 120, periodSeconds: 5",
            "startupProbe: {httpGet: {path: /health, port: 8000}, failureThreshold: 90}",
            SMALL,
            0,
        ),
    ],
)
def test_a_download_that_takes_longer_than_the_liveness_probe_waits(
    liveness: str, more: str, model: str, count: int
) -> None:
    text = POD.format(liveness=liveness, startup=more, model=model, more="")
    findings = [finding for judged in ask(text) for finding in judged.findings]
    assert sum("at 1 Gbit/s" in finding.message for finding in findings) == count


@pytest.mark.parametrize(("delay", "found"), [(180, ["livenessProbe"]), (260, [])])
def test_an_engine_takes_time_beside_the_weights(delay: int, found: list[str]) -> None:
    # 595 GB at 3 GB/s take 198 s, and three probes 10 s apart come after the delay
    assert told(f", initialDelaySeconds: {delay}") == found
