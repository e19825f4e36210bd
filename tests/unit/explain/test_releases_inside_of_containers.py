"""What runs in a container has the release of its image; what the host has installed says nothing of it."""

from __future__ import annotations

import pytest

from moonpad.catalog.options import newest
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8"
HOST = "uv venv\nsource .venv/bin/activate\nuv pip install vllm==0.10.2 --torch-backend=auto\n"
GUIDE = "# Guide\n\n## Both nodes\n\n```bash\n{host}```\n\n## Start\n\n```bash\n{inside}\n```\n"
INSIDE = (
    f"docker exec -it node /bin/bash\nray status\n{SERVE}",
    f"docker exec node {SERVE}",
    f"docker exec node bash -c '{SERVE}'",
    "docker run --gpus all --ipc=host vllm/vllm-openai --model moonshotai/Kimi-K2.5 --tensor-parallel-size 8",
    "docker run --gpus all --ipc=host vllm/vllm-openai:latest --model moonshotai/Kimi-K2.5 --tensor-parallel-size 8",
    f"docker run -it --gpus all --ipc=host --entrypoint bash vllm/vllm-openai:latest\n{SERVE}",
)


def _version(text: str) -> tuple[str, str]:
    (judged,) = [each for each in ask(text) if each.layout is not None]
    return judged.version, judged.version_because


@pytest.mark.parametrize("inside", INSIDE)
def test_the_host_has_another(inside: str) -> None:
    version, because = _version(GUIDE.format(host=HOST, inside=inside))
    assert version == newest("vllm serve")
    assert "0.10.2 is that of the host" in because


@pytest.mark.parametrize("inside", INSIDE[:3])
def test_an_image_that_the_text_numbers(inside: str) -> None:
    pulled = f"{HOST}docker pull vllm/vllm-openai:v0.11.0\n"
    assert _version(GUIDE.format(host=pulled, inside=inside))[0] == "0.11.0"


def test_on_the_host() -> None:
    assert _version(GUIDE.format(host=HOST, inside=SERVE))[0] == "0.10.2"


@pytest.mark.parametrize("leave", ["exit", "docker stop node"])
def test_after_the_container_is_left(leave: str) -> None:
    inside = f"docker exec -it node /bin/bash\nray status\n{leave}\n{SERVE}"
    assert _version(GUIDE.format(host=HOST, inside=inside))[0] == "0.10.2"


def test_what_is_installed_in_the_container() -> None:
    inside = f"docker run -it --name node --gpus all ubuntu:24.04 bash\npip install vllm==0.10.2\n{SERVE}"
    assert _version(GUIDE.format(host="nvidia-smi\n", inside=inside))[0] == "0.10.2"


def test_a_release_of_the_whole_text() -> None:
    text = GUIDE.format(host=HOST, inside=INSIDE[1]).replace("# Guide", "# Guide for vLLM 0.10.2")
    assert _version(text)[0] == "0.10.2"


COMPOSE = """services:
  kimi:
    image: vllm/vllm-openai:latest
    entrypoint: ["bash", "-c"]
    command:
      - |
        pip install vllm==0.10.2
        vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8
"""
IN_IT = (
    COMPOSE,
    f"# Guide\n\n```yaml\n{COMPOSE}```\n",
    f"docker run --gpus all --entrypoint bash vllm/vllm-openai:latest -c 'pip install vllm==0.10.2 && {SERVE}'\n",
)


@pytest.mark.parametrize("text", IN_IT)
def test_what_the_start_of_the_container_installs(text: str) -> None:
    assert _version(text)[0] == "0.10.2"


def test_a_compose_file_beside_the_host() -> None:
    text = f"# Guide\n\n```bash\n{HOST}```\n\n```yaml\n{COMPOSE.replace('pip install vllm==0.10.2', 'nvidia-smi')}```\n"
    assert _version(text)[0] == newest("vllm serve")
