"""Models that hear, in images that lack what reads sound."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask


def found(text: str) -> list[Severity]:
    return [
        finding.severity
        for each in ask(text)
        for finding in each.findings
        if "libraries that read sound" in finding.message
    ]


@pytest.mark.parametrize(
    "text",
    [
        "docker run --gpus all vllm/vllm-openai:v0.8.5 --model openai/whisper-large-v3-turbo",
        "base_image:\n  image: vllm/vllm-openai:v0.8.5\ndocker_server:\n"
        '  start_command: sh -c "vllm serve fixie-ai/ultravox-v0_4 --port 8000"\n',
    ],
)
def test_requests_fail(text: str) -> None:
    assert found(text) == [Severity.WARNING]


@pytest.mark.parametrize(
    "text",
    [
        "docker run --gpus all vllm/vllm-openai:v0.20.0 --model openai/whisper-large-v3-turbo",
        "docker run --gpus all vllm/vllm-openai:v0.8.5 --model Qwen/Qwen3-8B",
        "docker run --gpus all my/vllm-openai-audio:v0.8.5 --model openai/whisper-large-v3-turbo",
        'docker run --gpus all --entrypoint bash vllm/vllm-openai:v0.8.5 -c "pip install vllm[audio] && '
        'vllm serve openai/whisper-large-v3-turbo"',
        "base_image:\n  image: vllm/vllm-openai:v0.8.5\nrequirements:\n  - vllm[audio]==0.8.5\ndocker_server:\n"
        '  start_command: sh -c "vllm serve fixie-ai/ultravox-v0_4 --port 8000"\n',
    ],
)
def test_requests_are_read(text: str) -> None:
    assert found(text) == []
