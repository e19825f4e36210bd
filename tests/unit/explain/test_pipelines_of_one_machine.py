"""The pipeline of an LLMInferenceService that has no workers: nothing passes it to the engine."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVICE = """\
apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
metadata: {{name: kimi}}
spec:
  model: {{uri: hf://moonshotai/Kimi-K2-Thinking, name: moonshotai/Kimi-K2-Thinking}}
  parallelism: {{{parallelism}}}
  {more}
  template:
    containers:
    - name: main
      resources: {{limits: {{nvidia.com/gpu: "8"}}}}
      env: [{{name: VLLM_ADDITIONAL_ARGS, value: "{arguments}"}}]
"""


def found(parallelism: str, more: str = "replicas: 1", arguments: str = "--trust-remote-code") -> list[str]:
    text = SERVICE.format(parallelism=parallelism, more=more, arguments=arguments)
    return [
        finding.where
        for judged in ask(text)
        for finding in judged.findings
        if "gets no --pipeline-parallel-size" in finding.message
    ]


def test_nothing_passes_it() -> None:
    assert found("tensor: 4, pipeline: 2") == ["pipeline"]


@pytest.mark.parametrize(
    ("parallelism", "more", "arguments"),
    [
        ("tensor: 8", "replicas: 1", ""),
        ("tensor: 8, pipeline: 1", "replicas: 1", ""),
        ("tensor: 8, pipeline: 2", "worker: {containers: [{name: main}]}", ""),
        ("tensor: 4, pipeline: 2", "replicas: 1", "--pipeline-parallel-size 2"),
    ],
)
def test_what_is_passed_is_left(parallelism: str, more: str, arguments: str) -> None:
    assert found(parallelism, more, arguments) == []
