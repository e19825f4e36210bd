"""A package that fits releases of one minor number, and its images."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve Qwen/Qwen3-Omni-30B-A3B-Instruct --omni --port 8091"
RUN = "docker run --gpus all -p 8091:8091 --ipc=host "


def said(text: str, *parts: str) -> list[str]:
    found = [each.message for one in ask(text) for each in one.findings]
    return [message for message in found if any(part in message for part in parts)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"vllm       0.15.0\nvllm-omni       0.14.0\n{SERVE}", True),
        (f"pip install vllm==0.16.0\npip install vllm-omni==0.14.0\n{SERVE}", True),
        (f"pip install vllm==0.15.0\npip install vllm-omni\n{SERVE}", True),
        (f"pip install vllm==0.14.1\npip install vllm-omni==0.14.0\n{SERVE}", False),
        (f"pip install vllm==0.21.0\npip install -e .\n{SERVE}", False),
        (f"pip install vllm vllm-omni\n{SERVE}", False),
        (f"pip install vllm==0.15.0\npip install vllm-omni==0.14.0\n{SERVE.replace(' --omni', '')}", False),
    ],
)
def test_minor_numbers(text: str, told: bool) -> None:
    assert len(said(text, "its own minor number")) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{RUN}vllm/vllm-omni:latest --model fishaudio/s2-pro --port 8091", True),
        (f"{RUN}vllm/vllm-omni:v0.21.0 vllm serve fishaudio/s2-pro --omni", False),
        (f"{RUN}--entrypoint vllm vllm/vllm-omni:v0.21.0 serve fishaudio/s2-pro --omni", False),
        (f"{RUN}vllm/vllm-openai:v0.21.0 --model fishaudio/s2-pro --port 8091", False),
    ],
)
def test_image_that_starts_nothing(text: str, told: bool) -> None:
    assert len(said(text, "has no entrypoint")) == told
