"""Values of vLLM's production stack: its chart mounts memory for the ranks by one key alone."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

VALUES = """\
servingEngineSpec:
  modelSpec:
  - name: kimi
    repository: vllm/vllm-openai
    tag: v0.12.0
    modelURL: moonshotai/Kimi-K2-Thinking
    requestGPU: {devices}
    {more}
    vllmConfig:
      maxModelLen: 32768
      {layout}
"""
BY_OPTION = 'extraArgs: ["--tensor-parallel-size", "8", "--trust-remote-code"]'
BY_KEY = "tensorParallelSize: 8"


def remedies(layout: str, devices: int = 8, more: str = "replicaCount: 1") -> list[str]:
    text = VALUES.format(layout=layout, devices=devices, more=more)
    found = [finding for judged in ask(text) for finding in judged.findings]
    return [each.remedy for each in found if "the chart mounts memory" in each.message]


def test_an_option_mounts_nothing() -> None:
    assert remedies(BY_OPTION) == [
        "write tensorParallelSize: 8 in vllmConfig, and leave --tensor-parallel-size out of extraArgs"
    ]


@pytest.mark.parametrize(
    ("layout", "devices", "more"),
    [
        (BY_KEY, 8, "replicaCount: 1"),
        ('extraArgs: ["--trust-remote-code"]', 1, "replicaCount: 1"),
        (BY_OPTION, 8, "extraVolumeMounts: [{name: shm, mountPath: /dev/shm}]"),
    ],
)
def test_what_has_memory_or_needs_none_is_left(layout: str, devices: int, more: str) -> None:
    assert remedies(layout, devices, more) == []
