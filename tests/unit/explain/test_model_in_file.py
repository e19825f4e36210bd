"""A file of options that names the model, and a subcommand that looks for it before."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def told(text: str) -> bool:
    messages = [finding.message for judgement in ask(text) for finding in judgement.findings]
    return any("looks for the model among its own words" in message for message in messages)


@pytest.mark.parametrize(
    "text",
    [
        "sglang serve --config config.yaml\n",
        "docker run -v /m:/m lmsysorg/sglang:v0.5.19 sglang serve --config /m/config.yaml --port 30000\n",
    ],
)
def test_the_file_is_read_too_late(text: str) -> None:
    assert told(text)


@pytest.mark.parametrize(
    "text",
    [
        "python3 -m sglang.launch_server --config config.yaml\n",
        "sglang serve --config config.yaml --model-path Qwen/Qwen3-32B\n",
        "sglang serve Qwen/Qwen3-32B --config config.yaml\n",
        "sglang serve --config config.yaml $ARGS\n",
        "vllm serve --config config.yaml\n",
    ],
)
def test_the_model_is_there_or_the_file_is_read_first(text: str) -> None:
    assert not told(text)


def test_the_model_stands_first() -> None:
    messages = [each.message for found in ask("sglang serve --tp-size 8 Qwen/Qwen3-32B\n") for each in found.findings]
    assert any("not behind options" in message for message in messages)
