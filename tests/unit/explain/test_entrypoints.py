"""A shell or Python as the arguments of an image that starts its server by itself."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity

GGUF = "ghcr.io/ggml-org/llama.cpp:server-cuda"
VLLM = "vllm/vllm-openai:v0.20.0"
SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"
ARGUMENTS = 'ENV LLAMA_ARGS="--ctx-size 8192 --n-gpu-layers 99"'


def found(text: str) -> list[Finding]:
    findings = [finding for each in judge(read_script(text), Question()) for finding in each.findings]
    return [finding for finding in findings if "has an entrypoint" in finding.message]


def pod(image: str, key: str, words: str) -> str:
    return (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: k2\nspec:\n  containers:\n    - name: server\n"
        f"      image: {image}\n      {key}: {words}\n"
    )


def service(words: str, more: str = "") -> str:
    return f"services:\n  k2:\n    image: {VLLM}\n{more}    command: {words}\n"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f'FROM {GGUF}\n{ARGUMENTS}\nCMD ["python", "app.py"]\n', "CMD"),
        (f'FROM {GGUF}\n{ARGUMENTS}\nCMD ["/bin/bash", "-c", "llama-server -m /m/k2.gguf"]\n', "CMD"),
        (f"FROM {GGUF}\nCMD llama-server -m /m/k2-q4_k_m.gguf -ngl 99\n", "CMD"),
        (f'FROM {VLLM}\nCMD ["bash", "-c", "{SERVE}"]\n', "CMD"),
        (f"docker run --gpus all {VLLM} bash -c '{SERVE}'", "bash"),
        (service(f'bash -c "{SERVE}"'), "bash"),
        (pod(VLLM, "args", f'["/bin/sh", "-c", "{SERVE}"]'), "/bin/sh"),
    ],
)
def test_they_are_arguments(text: str, where: str) -> None:
    (finding,) = found(text)
    assert (finding.severity, finding.where) == (Severity.WARNING, where)


@pytest.mark.parametrize(
    "text",
    [
        f'FROM {GGUF}\n{ARGUMENTS}\nENTRYPOINT []\nCMD ["python", "app.py"]\n',
        f'FROM {GGUF}\nENTRYPOINT ["bash", "-c"]\nCMD ["llama-server -m /m/k2-q4_k_m.gguf"]\n',
        f'FROM {GGUF}\nCMD ["-m", "/m/k2-q4_k_m.gguf", "-ngl", "99"]\n',
        f'FROM ghcr.io/ggml-org/llama.cpp:full-cuda\n{ARGUMENTS}\nCMD ["python", "app.py"]\n',
        f'FROM nvidia/cuda:12.8.0-devel-ubuntu24.04\nCMD ["bash", "-c", "{SERVE}"]\n',
        f'FROM rocm/vllm:latest\nCMD ["bash", "-c", "{SERVE}"]\n',
        f'FROM {VLLM} AS base\nENTRYPOINT []\nFROM base\nCMD ["bash", "-c", "{SERVE}"]\n',
        f"docker run --entrypoint bash {VLLM} -c '{SERVE}'",
        f"docker run --gpus all {VLLM} --model moonshotai/Kimi-K2-Thinking -tp 8",
        f"docker run --gpus all lmsysorg/sglang:v0.5.9 bash -c '{SERVE}'",
        service(f'bash -c "{SERVE}"', "    entrypoint: []\n"),
        service(f'-c "{SERVE}"', "    entrypoint: bash\n"),
        pod(VLLM, "command", f'["/bin/sh", "-c", "{SERVE}"]'),
    ],
)
def test_they_are_a_program_or_that_is_not_known(text: str) -> None:
    assert found(text) == []
