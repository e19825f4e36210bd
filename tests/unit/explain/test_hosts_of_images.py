"""What a machine is, below the engine: its processor, its driver, and a Mac."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

RUN = "docker run --gpus all{} --ipc=host lmsysorg/sglang:v0.5.9 python3 -m sglang.launch_server --model-path {}\n"
MODEL = "moonshotai/Kimi-VL-A3B-Instruct"
SERVE = f"vllm serve {MODEL} --tensor-parallel-size 8\n"
LLAMA = (
    "docker run --gpus all -v ~/models:/models ghcr.io/ggml-org/llama.cpp:server-cuda -m /models/K2-Q4_K_M.gguf "
    "-ngl 99\n"
)


def messages(text: str, on: str = "") -> list[str]:
    return [finding.message for judged in ask(text, on) for finding in judged.findings]


@pytest.mark.parametrize(
    ("platform", "on", "told"),
    [
        (" --platform linux/amd64", "1xGH200", True),
        (" --platform=linux/amd64", "4xGB200", True),
        (" --platform linux/arm64", "1xGH200", False),
        (" --platform linux/amd64", "8xB200", False),
        ("", "1xGH200", False),
    ],
)
def test_an_image_for_another_processor(platform: str, on: str, *, told: bool) -> None:
    assert any("processor of Arm" in each for each in messages(RUN.format(platform, MODEL), on)) == told


@pytest.mark.parametrize(
    ("install", "on", "said"),
    [
        ("apt-get install -y nvidia-driver-550-server", "8xB200", "before 570"),
        ("apt-get install -y nvidia-driver-570-server nvidia-fabricmanager-570", "8xB200", "closed kernel modules"),
        ("sudo apt install nvidia-driver-535", "2xRTX-PRO-6000", "before 570"),
        ("packages:\n  - nvidia-driver-550-server\n# and then\n#", "8xB300", "before 570"),
        ("apt-get install -y nvidia-driver-580-server-open", "8xB200", ""),
        ("apt-get install -y nvidia-driver-550-server", "8xH200", ""),
        ("apt purge nvidia-driver-550-server\napt install nvidia-driver-580-server-open", "8xB200", ""),
        ("# apt-get install -y nvidia-driver-550-server", "8xB200", ""),
        ("apt-get install -y nvidia-container-toolkit", "8xB200", ""),
    ],
)
def test_the_driver_of_blackwell(install: str, on: str, said: str) -> None:
    found = [each for each in messages(f"{install}\n{SERVE}", on) if "branch before" in each or "closed kernel" in each]
    assert len(found) == bool(said)
    assert all(said in each for each in found)


@pytest.mark.parametrize(
    ("lead", "command", "told"),
    [
        ("Mac Studio M3 Ultra, 512 GB. Docker Desktop is installed:\n\n", LLAMA, True),
        ("On my MacBook:\n\n", LLAMA, True),
        ("From my MacBook I ssh into the server, then:\n\n", LLAMA, False),
        ("Mac Studio M3 Ultra:\n\n", LLAMA.replace(" --gpus all", ""), False),
        ("Mac Studio M3 Ultra with an NVIDIA box beside it:\n\n", LLAMA, False),
        ("", LLAMA, False),
    ],
)
def test_a_container_on_a_mac(lead: str, command: str, *, told: bool) -> None:
    assert any("a container on a Mac" in each for each in messages(lead + command)) == told
