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


@pytest.mark.parametrize(
    ("installs", "told"),
    [
        ("pip install torch==2.8.0 torchvision==0.23.0\npip install torch_npu==2.7.1", True),
        ("pip install vllm==0.12.0 && pip install vllm-ascend==0.11.0", True),
        (
            "git clone --depth 1 --branch v0.12.0 https://github.com/vllm-project/vllm\ngit clone --depth 1 --branch "
            "v0.11.0rc1 https://github.com/vllm-project/vllm-ascend.git",
            True,
        ),
        ("pip install torch==2.8.0\npip install torch-npu==2.8.0.post2", False),
        ("pip install vllm==0.11.0 vllm-ascend==0.11.0rc2", False),
        ("pip install vllm==0.14.1 vllm-ascend==0.14.0rc1", False),
        ("pip install vllm==0.12.0", False),
        ("pip install vllm==0.11.0 vllm-ascend==0.11.0\n# or pip install vllm==0.12.0", False),
        ("pip install torch==2.8.0 torch_npu==2.8.0\npip install torch==2.7.1 torch_npu==2.7.1", False),
    ],
)
def test_packages_that_belong_together(installs: str, *, told: bool) -> None:
    text = f"{installs}\nvllm serve /w/Moonlight-16B-A3B-Instruct --tensor-parallel-size 2 --trust-remote-code\n"
    found = [each.message for one in ask(text) for each in one.findings]
    assert any("belong together" in each for each in found) == told
