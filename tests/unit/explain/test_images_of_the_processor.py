"""Images of llama.cpp that have no backend for devices, and what one process with several devices does not need."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity

RUN = "docker run {gpus} -v /models:/models -p 127.0.0.1:8080:8080 {image} -m /models/{file} -c 32768 {layers}"
FILE = "Kimi-K2-Thinking-UD-Q2_K_XL-00001-of-00008.gguf"
COMPOSE = """services:
  kimi:
    image: {image}
    command: -m /models/{file} -c 32768 -ngl 99
    deploy: {{resources: {{reservations: {{devices: [{{driver: nvidia, count: all, capabilities: [gpu]}}]}}}}}}
"""


def findings(text: str) -> list[Finding]:
    return [each for judged in judge(read_script(f"{text}\n# 4x RTX 4090"), Question()) for each in judged.findings]


def told(text: str) -> list[Finding]:
    return [each for each in findings(text) if "on the processor alone" in each.message]


@pytest.mark.parametrize(
    ("image", "remedy"),
    [
        ("ghcr.io/ggml-org/llama.cpp:server", "server-cuda"),
        ("ghcr.io/ggml-org/llama.cpp:server-b6500", "server-cuda"),
        ("ghcr.io/ggerganov/llama.cpp:full", "full-cuda"),
    ],
)
def test_layers_for_devices_in_an_image_without_a_backend(image: str, remedy: str) -> None:
    for text in (
        RUN.format(gpus="--gpus all", image=image, file=FILE, layers="--n-gpu-layers 99"),
        COMPOSE.format(image=image, file=FILE),
    ):
        (finding,) = told(text)
        assert finding.severity is Severity.WARNING
        assert remedy in finding.remedy


@pytest.mark.parametrize(
    ("image", "layers"),
    [
        ("ghcr.io/ggml-org/llama.cpp:server-cuda", "-ngl 99"),
        ("ghcr.io/ggml-org/llama.cpp:server-vulkan-b6500", "-ngl 99"),
        ("ghcr.io/ggml-org/llama.cpp:server", "-ngl 0"),
        ("ghcr.io/ggml-org/llama.cpp:server", ""),
        ("registry.example/llama.cpp:server", "-ngl 99"),
    ],
)
def test_where_there_is_a_backend_or_none_is_asked_for(image: str, layers: str) -> None:
    assert not told(RUN.format(gpus="--gpus all", image=image, file=FILE, layers=layers))


def test_one_process_shares_no_memory_with_others() -> None:
    image = "ghcr.io/ggml-org/llama.cpp:server-cuda"
    started = RUN.format(gpus="--gpus all", image=image, file=FILE, layers="-ngl 99 -ot exps=CPU")
    for text in (started, COMPOSE.format(image=image, file=FILE)):
        assert not [each.message for each in findings(text) if "/dev/shm" in each.message]
