"""A container of vLLM's own image with nothing behind the image: its entrypoint is the server."""

from __future__ import annotations

import pytest

from moonpad.explain.missing_engine import missing_engine
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

SERVICE = """services:
  kimi:
    image: {}
    ipc: host
    ports:
      - "40000:8000"
"""
TEXT = "# Garbled output on 8x H200\n- Model: moonshotai/Kimi-K2.5\n```\n{}"


@pytest.mark.parametrize(
    "image",
    [
        "vllm/vllm-openai:v0.16.0",
        "docker.io/vllm/vllm-openai:v0.16.0",
        "vllm-openai:nightly-8fae54faff485e446dc8d1a700417f07659ef89e",
        "vllm/vllm-openai:v0.16.0-cu129",
        "vllm/vllm-openai",
    ],
)
def test_it_serves_the_model_that_the_text_names(image: str) -> None:
    (judged,) = ask(TEXT.format(SERVICE.format(image)))
    assert judged.engine == "vllm"
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "moonshotai/Kimi-K2.5"
    assert judged.cluster is not None
    assert judged.cluster.devices == 8
    assert judged.unjudged.startswith("the options that the text only speaks of are not known here")
    assert not [each for each in judged.findings if "no key" in each.message]


def test_labels_of_the_text_are_its_options() -> None:
    text = TEXT.replace("\n```", "\n- TP: 8\n- Max model length: 131072\n```")
    (judged,) = ask(text.format(SERVICE.format("vllm/vllm-openai:v0.16.0")))
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert judged.settings is not None
    assert judged.settings.max_model_len == 131072


@pytest.mark.parametrize(
    ("image", "served"),
    [
        ("vllm/vllm-openai:v0.16.0", "Qwen/Qwen3-0.6B"),
        ("vllm/vllm-openai:v0.9.1", "Qwen/Qwen3-0.6B"),
        ("vllm/vllm-openai:v0.8.5", "facebook/opt-125m"),
        ("vllm/vllm-openai:nightly", "a small model that is the engine's default"),
    ],
)
@pytest.mark.parametrize("text", [SERVICE, "docker run --gpus all {}\n"])
def test_without_a_model_it_says_what_is_served_by_release(text: str, image: str, served: str) -> None:
    what, remedy = missing_engine(read_script(text.format(image)))
    assert what.endswith(f"starts the server of {image} without a model: then it serves {served}")
    assert "--model" in remedy


@pytest.mark.parametrize(
    "text",
    [
        SERVICE.format("ghcr.io/a/b:v1.0.0"),
        SERVICE.format("lmsysorg/sglang:v0.5.9"),
        SERVICE.format("me/vllm-openai-fork:v0.16.0"),
        SERVICE.format("vllm/vllm-openai:v0.16.0") + "    entrypoint: [bash]\n",
        "docker run --entrypoint nvidia-smi vllm/vllm-openai:v0.16.0\n",
    ],
)
def test_what_others_run_is_not_said(text: str) -> None:
    assert "without a model" not in missing_engine(read_script(text))[0]
    assert ask(TEXT.format(text)) == ()


def test_a_chart_may_add_what_its_values_lack() -> None:
    text = "image: vllm/vllm-openai:v0.16.0\nreplicas: 2\nresources:\n  limits:\n    nvidia.com/gpu: 8\n"
    assert "without a model" not in missing_engine(read_script(text))[0]


def test_of_two_models_neither_is_meant() -> None:
    text = TEXT.replace("\n```", " or moonshotai/Kimi-K2.6\n```")
    assert ask(text.format(SERVICE.format("vllm/vllm-openai:v0.16.0"))) == ()
