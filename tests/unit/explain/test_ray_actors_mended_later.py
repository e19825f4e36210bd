"""A fault of engines in actors of Ray is told where an actor starts the engine, not of every command over Ray."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

MODEL = "deepseek-ai/DeepSeek-R1"
WORDS = ["vllm", "serve", MODEL, "--tensor-parallel-size", "8", "--distributed-executor-backend", "ray"]
FAULT = "an engine in a Ray actor"
BY_HAND = f"pip install vllm==0.9.1\nray start --head\n{' '.join(WORDS)}\n"
CHART = (
    "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    image: vllm/vllm-openai:v0.9.1\n"
    f"    command: ['/bin/bash', '-c']\n    args: ['ray start --head; {' '.join(WORDS)}']\n"
)
BY_ACTOR = (
    "# vllm==0.9.1\nimport ray, subprocess\n@ray.remote\ndef start():\n"
    f"    subprocess.run({WORDS})\nray.get(start.remote())\n"
)


def messages(text: str) -> list[str]:
    return [finding.message for judged in ask(text) for finding in judged.findings]


@pytest.mark.parametrize("text", [BY_HAND, CHART])
def test_a_server_on_a_cluster_of_ray_is_no_actor(text: str) -> None:
    assert not [message for message in messages(text) if FAULT in message]


def test_an_actor_that_starts_it() -> None:
    assert [message for message in messages(BY_ACTOR) if FAULT in message]
