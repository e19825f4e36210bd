"""/dev/shm of the servers of vLLM's production stack."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

VALUES = """\
servingEngineSpec:
  modelSpec:
  - name: "other"
    repository: "vllm/vllm-openai"
    tag: "v0.10.0"
    modelURL: "Qwen/Qwen3-8B"
    replicaCount: 1
    requestGPU: 1
  - name: "kimi"
    repository: "vllm/vllm-openai"
    tag: "v0.10.0"
    modelURL: "moonshotai/Kimi-K2-Instruct"
    replicaCount: 1
    requestGPU: 8
    vllmConfig:
{config}
      extraArgs: ["--trust-remote-code"{more}]
    shmSize: "20Gi"
{rest}
"""
IN_ARGS = ', "--tensor-parallel-size", "8"'
VOLUME = "    extraVolumeMounts:\n    - name: dshm\n      mountPath: /dev/shm"


def told(config: str = "      dtype: bfloat16", more: str = IN_ARGS, rest: str = "") -> int:
    text = VALUES.format(config=config, more=more, rest=rest)
    words = "only where vllmConfig has tensorParallelSize"
    return sum(words in finding.message for one in ask(text) for finding in one.findings)


def test_the_option_in_the_arguments_mounts_no_memory() -> None:
    assert told() == 1


@pytest.mark.parametrize(
    "given",
    [
        {"config": "      tensorParallelSize: 8", "more": ""},
        {"config": "      tensorParallelSize: 8"},
        {"more": ""},
        {"more": ', "--tensor-parallel-size", "1"'},
        {"rest": VOLUME},
        {"rest": "    raySpec:\n      headNode: {}"},
    ],
)
def test_other_values_do(given: dict[str, str]) -> None:
    assert told(**given) == 0


def test_arguments_of_another_chart_are_its_own() -> None:
    assert "chart mounts" not in str(ask("extraArgs: ['vllm', 'serve', 'a/b', '--tensor-parallel-size', '8']\n"))
