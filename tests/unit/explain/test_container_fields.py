"""Keys of a manifest on the wrong level, and the folder of a cached repository in place of its snapshot."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

POD = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: vllm
spec:
  template:
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.10.0
        command: ["vllm", "serve", "Qwen/Qwen3-8B"]
        env:
        - name: HF_TOKEN
          valueFrom:
            secretKeyRef: {name: hf, key: token}
"""
DEEPER = "          valueFrom:\n            secretKeyRef: {name: hf, key: token}\n"
BESIDE = "        valueFrom:\n          secretKeyRef: {name: hf, key: token}\n"
ROOT = "/cache/huggingface/hub/models--yard1--llama-2-7b-sql-lora-test"
SERVER = "vllm serve meta-llama/Llama-2-7b-hf --enable-lora --lora-modules sql-lora="


def told(text: str, part: str) -> bool:
    return any(part in finding.message for judged in ask(text) for finding in judged.findings)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (POD.replace(DEEPER, BESIDE), "HF_TOKEN is empty"),
        (POD + "        volumes:\n        - {name: dshm, emptyDir: {medium: Memory}}\n", "but of the pod"),
        (POD + "        runAsUser: 0\n", "but of securityContext"),
        (POD + "      livenessProbe:\n        httpGet: {path: /health, port: 8000}\n", "but of a container"),
    ],
)
def test_a_field_on_the_wrong_level(text: str, part: str) -> None:
    assert told(text, part)


@pytest.mark.parametrize(
    "text",
    [
        POD,
        POD + "      volumes:\n      - {name: dshm, emptyDir: {medium: Memory}}\n",
        POD + "        securityContext: {runAsUser: 0}\n",
        POD.replace("kind: Deployment", "kind: InferenceService") + "        runAsUser: 0\n",
        "services:\n  vllm:\n    image: vllm/vllm-openai:v0.10.0\n    command: --model Qwen/Qwen3-8B\n    ipc: host\n",
    ],
)
def test_fields_that_are_in_their_place(text: str) -> None:
    assert not told(text, "kubectl refuses")


@pytest.mark.parametrize("text", [f"{SERVER}{ROOT}/", f"vllm serve {ROOT}", f"vllm serve --model={ROOT}"])
def test_the_folder_of_a_cached_repository(text: str) -> None:
    assert told(text, "is the folder of a repository in the cache")


@pytest.mark.parametrize(
    "text",
    [
        f"{SERVER}{ROOT}/snapshots/0dfa347e8877a4d4ed19ee56c140fa518470028c/",
        f"{SERVER}yard1/llama-2-7b-sql-lora-test",
        "vllm serve /models/models--Qwen--Qwen3-8B",
        f"docker run -v /data/qwen:{ROOT} vllm/vllm-openai:v0.10.0 --model {ROOT}",
        f"vllm serve Qwen/Qwen3-8B --download-dir {ROOT}",
    ],
)
def test_a_folder_with_files(text: str) -> None:
    assert not told(text, "is the folder of a repository in the cache")
