"""Where a healthcheck asks, and where a container may write."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

FILE = """services:
  engine:
    image: {image}
    gpus: all
    ipc: host
    command: {command}
    healthcheck: {{test: {test}}}
"""
VLLM = "vllm/vllm-openai:v0.20.0"
SERVE = "--model moonshotai/Kimi-K2.5 -tp 8"
UNHEALTHY = "it stays unhealthy"
TEMPORARY = "temporary directory"
POD = """apiVersion: v1
kind: Pod
metadata: {{name: k2}}
spec:
  containers:
  - name: server
    image: vllm/vllm-openai:v0.20.0
    securityContext: {{readOnlyRootFilesystem: {fixed}}}
    args: [--model, moonshotai/Kimi-K2.5, -tp, '8']
    env: [{{name: {name}, value: /scratch}}]
    resources: {{limits: {{nvidia.com/gpu: '8'}}}}
    volumeMounts: [{{name: scratch, mountPath: {path}}}, {{name: shm, mountPath: /dev/shm}}]
  volumes: [{{name: scratch, emptyDir: {{}}}}, {{name: shm, emptyDir: {{medium: Memory}}}}]
"""
SERVICE = """services:
  engine:
    image: vllm/vllm-openai:v0.20.0
    gpus: all
    ipc: host
    read_only: {fixed}
    {more}
    command: --model moonshotai/Kimi-K2.5 -tp 8
"""
RUN = "docker run --gpus all --ipc=host {} vllm/vllm-openai:v0.20.0 --model moonshotai/Kimi-K2.5 -tp 8\n"


def told(text: str, words: str) -> list[str]:
    findings = [finding for judged in ask(text) for finding in judged.findings]
    return [finding.where for finding in findings if words in finding.message]


def service(test: str, command: str = SERVE, image: str = VLLM) -> str:
    return FILE.format(test=test, command=command, image=image)


@pytest.mark.parametrize(
    "text",
    [
        service("[CMD, curl, -f, 'http://localhost:8000/v1/health']"),
        service("'curl -f http://127.0.0.1:8000/healthz || exit 1'"),
        service("[CMD-SHELL, 'curl -f http://localhost:8080/health || exit 1']"),
        service("[CMD, curl, -f, 'http://localhost:8000/health']", f"{SERVE} --port 8001"),
        RUN.format("--health-cmd 'curl -f http://localhost:8000/api/health'"),
    ],
)
def test_a_healthcheck_that_asks_where_the_engine_does_not_answer(text: str) -> None:
    assert told(text, UNHEALTHY) == ["healthcheck"]


@pytest.mark.parametrize(
    "text",
    [
        service("[CMD, curl, -f, 'http://localhost:8000/health']"),
        service("[CMD, curl, -f, 'http://localhost:8000/v1/models']"),
        service("[CMD, curl, -f, 'http://localhost:8001/health']", f"{SERVE} --port 8001"),
        service("[CMD, curl, -f, 'http://localhost:${PORT}/health']"),
        service("[CMD, curl, -f, 'http://gateway:9000/healthz']"),
        service("[CMD, curl, -f, 'http://localhost:8000/health']", f"{SERVE} --port ${{PORT}}"),
        service(
            "[CMD, curl, -f, 'http://localhost:8080/v1/health']",
            "-m /m.gguf --host 0.0.0.0",
            "ghcr.io/ggml-org/llama.cpp:server-cuda",
        ),
        RUN.format("--health-cmd 'curl -f http://localhost:8000/health'"),
    ],
)
def test_a_healthcheck_that_may_be_answered(text: str) -> None:
    assert told(text, UNHEALTHY) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (POD.format(fixed="true", name="HF_HOME", path="/scratch"), "readOnlyRootFilesystem"),
        (SERVICE.format(fixed="true", more="restart: always"), "read_only"),
        (RUN.format("--read-only -v /srv/hf:/root/.cache/huggingface"), "--read-only"),
    ],
)
def test_a_container_without_a_folder_for_temporary_files(text: str, where: str) -> None:
    assert told(text, TEMPORARY) == [where]


@pytest.mark.parametrize(
    "text",
    [
        POD.format(fixed="false", name="HF_HOME", path="/scratch"),
        POD.format(fixed="true", name="HF_HOME", path="/tmp"),
        POD.format(fixed="true", name="TMPDIR", path="/scratch"),
        SERVICE.format(fixed="false", more="restart: always"),
        SERVICE.format(fixed="true", more="tmpfs: [/tmp]"),
        SERVICE.format(fixed="true", more="tmpfs: /tmp:size=8g"),
        SERVICE.format(fixed="true", more="volumes: ['scratch:/tmp']"),
        RUN.format("--read-only --tmpfs /tmp:rw,size=8g"),
        RUN.format("--rm"),
        RUN.format("--read-only").replace("docker", "podman").replace("--gpus all", "--device nvidia.com/gpu=all"),
    ],
)
def test_a_container_that_may_write_temporary_files(text: str) -> None:
    assert told(text, TEMPORARY) == []
