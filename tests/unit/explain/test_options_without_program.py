"""Options behind an image whose entrypoint is no server, and what they are read as."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

OPTIONS = "--model-path Qwen/Qwen3-32B --host 0.0.0.0 --port 30000"
RUN = "docker run --gpus all --ipc=host -p 127.0.0.1:30000:30000"


def told(text: str) -> bool:
    messages = [finding.message for judgement in ask(text) for finding in judgement.findings]
    return any("starts no server by itself" in message for message in messages)


def compose(entrypoint: str = "") -> str:
    return f"services:\n  s:\n    image: lmsysorg/sglang:v0.5.9\n{entrypoint}    command: {OPTIONS}\n"


def pod(command: str = "") -> str:
    return (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: s\nspec:\n  containers:\n    - name: server\n"
        f'      image: lmsysorg/sglang:v0.5.9\n{command}      args: ["--model-path", "Qwen/Qwen3-32B"]\n'
    )


@pytest.mark.parametrize("text", [f"{RUN} lmsysorg/sglang:dev {OPTIONS}\n", compose(), pod()])
def test_an_option_is_run_as_a_program(text: str) -> None:
    assert told(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{RUN} lmsysorg/sglang:dev python3 -m sglang.launch_server {OPTIONS}\n",
        f"{RUN} --entrypoint sglang lmsysorg/sglang:dev serve {OPTIONS}\n",
        f"{RUN} my/sglang:1 {OPTIONS}\n",
        f"{RUN} vllm/vllm-openai:v0.19.0 --model Qwen/Qwen3-32B\n",
        compose("    entrypoint: python3 -m sglang.launch_server\n"),
        pod('      command: ["python3", "-m", "sglang.launch_server"]\n'),
    ],
)
def test_the_program_is_there(text: str) -> None:
    assert not told(text)
