"""Weights that an old KTransformers keeps in host memory, against the limit of its container."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: v1
kind: Pod
metadata: {{name: kt}}
spec:
  containers:
  - name: kt
    image: approachingai/ktransformers:v0.3.2
    command: [python, ktransformers/server/main.py]
    args: [--port, '10002', --model_path, /models/{model}, --gguf_path, {files}]
    resources: {{limits: {{nvidia.com/gpu: 1, memory: {limit}}}}}
"""


def told(files: str, limit: str, model: str = "Kimi-K2-Instruct") -> list[str]:
    findings = [each for judged in ask(POD.format(model=model, files=files, limit=limit)) for each in judged.findings]
    return [each.where for each in findings if "of host memory" in each.message]


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ("/models/Kimi-K2-Instruct-GGUF/Q4_K_M", "256Gi"),
        ("/models/Kimi-K2-Instruct-Q4_K_M", "400Gi"),
        ("/models/DeepSeek-R1-Q4_K_M", "128Gi"),
    ],
)
def test_weights_that_the_container_may_not_keep(files: str, limit: str) -> None:
    assert told(files, limit, "DeepSeek-R1" if "R1" in files else "Kimi-K2-Instruct") == ["--gguf_path"]


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ("/models/Kimi-K2-Instruct-GGUF/Q4_K_M", "700Gi"),
        ("/models/Kimi-K2-Instruct-GGUF/Q2_K", "300Gi"),
        ("/models/files", "64Gi"),
        ("$FILES", "64Gi"),
    ],
)
def test_weights_that_fit_or_are_not_known(files: str, limit: str) -> None:
    assert told(files, limit) == []


def test_the_old_server_has_no_parsers() -> None:
    judged = ask(POD.format(model="Kimi-K2-Instruct", files="/models/Kimi-K2-Instruct-Q4_K_M", limit="900Gi"))
    assert not [finding for each in judged for finding in each.findings if finding.where == "--tool-call-parser"]
