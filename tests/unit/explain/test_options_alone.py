"""Images that start no server by themselves, with options and no program behind them."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding
from tests.unit.explain.judging import ask

OPTIONS = "--model-path Qwen/Qwen3-8B --host 127.0.0.1 --port 30000"
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers:
    - name: s
      image: lmsysorg/sglang:v0.5.9
      {command}
      args: ["--model-path", "Qwen/Qwen3-8B"]
"""
SERVICE = "services:\n  s:\n    image: lmsysorg/sglang:latest\n    {entrypoint}\n    command: " + OPTIONS + "\n"


def told(text: str) -> list[Finding]:
    return [each for judged in ask(text) for each in judged.findings if "starts no server by itself" in each.message]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"docker run --gpus all lmsysorg/sglang:latest {OPTIONS}", 1),
        ("I use `docker run --gpus all lmsysorg/sglang:dev --host 0.0.0.0 --port 30000` and it ends.", 1),
        ("docker run quay.io/ascend/vllm-ascend:v0.11.0 --model Qwen/Qwen3-8B", 1),
        (f"docker run lmsysorg/sglang:latest python3 -m sglang.launch_server {OPTIONS}", 0),
        (f"docker run --entrypoint sglang lmsysorg/sglang:latest serve {OPTIONS}", 0),
        (f"docker run registry.example.com/me/sglang:latest {OPTIONS}", 0),
        ("docker run vllm/vllm-openai:latest --model Qwen/Qwen3-8B", 0),
        (POD.format(command="workingDir: /w"), 1),
        (POD.format(command='command: ["python3", "-m", "sglang.launch_server"]'), 0),
        (SERVICE.format(entrypoint="restart: always"), 1),
        (SERVICE.format(entrypoint="entrypoint: python3 -m sglang.launch_server"), 0),
    ],
)
def test_an_option_is_no_program(text: str, count: int) -> None:
    assert len(told(text)) == count
