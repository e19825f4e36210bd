"""Names of images that a container runtime refuses, and the server as an argument of its own image."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

POD = """apiVersion: v1
kind: Pod
metadata:
  name: model
spec:
  containers:
    - name: server
      image: {image}
      args: ["--model", "/weights", "--port", "8000"]
      resources:
        limits:
          nvidia.com/gpu: 1
"""
COMPOSE = """services:
  server:
    image: {image}
    command: >-
      {command}
"""
AS_ARGUMENTS = "starts its server by itself"


def refused(image: str) -> list[str]:
    judged = ask(POD.format(image=image))
    return [
        finding.message
        for each in judged
        for finding in each.findings
        if finding.severity is Severity.ERROR and image in finding.message
    ]


@pytest.mark.parametrize(
    "image",
    [
        "ghcr.io/My-Team/vllm-server:latest",
        "registry.example.com/team/vllm\u2011cuda:1.2",
        "localhost:5000/Team/vllm-server:2",
        "VllmServer:latest",
    ],
)
def test_no_runtime_takes_capitals_or_signs_of_typesetting(image: str) -> None:
    assert len(refused(image)) == 1


@pytest.mark.parametrize(
    "image",
    [
        "ghcr.io/my-team/vllm-server:Latest-RC1",
        "ghcr.io/YOUR_ORG/vllm-server:latest",
        "Team/vllm-server:1",  # a first part with a capital is a registry
        "vllm/vllm-openai@sha256:ABCDEF0123456789",
        "${REGISTRY}/vllm-server:1",
    ],
)
def test_tags_stand_ins_and_registries_may_have_them(image: str) -> None:
    assert not refused(image)


def said(image: str, command: str) -> list[str]:
    judged = ask(COMPOSE.format(image=image, command=command))
    return [f.message for each in judged for f in each.findings if AS_ARGUMENTS in f.message]


@pytest.mark.parametrize("tag", ["v0.20.0", "gemma4-cu130", "nightly", "latest-cu129-ubuntu2404"])
@pytest.mark.parametrize("begin", ["vllm serve Qwen/Qwen3-8B", "serve Qwen/Qwen3-8B"])
def test_each_tag_of_the_official_image_starts_the_server(tag: str, begin: str) -> None:
    assert len(said(f"vllm/vllm-openai:{tag}", f"{begin}\n      --port 8000")) == 1


def test_options_alone_and_other_images_are_right() -> None:
    assert not said("vllm/vllm-openai:nightly", "--model Qwen/Qwen3-8B\n      --port 8000")
    assert not said("vllm/vllm-openai:nightly", "Qwen/Qwen3-8B\n      --port 8000")
    assert not said("example.com/mine/llm:own", "vllm serve Qwen/Qwen3-8B\n      --port 8000")


def test_names_that_stand_twice_replace_each_other() -> None:
    command = "vllm serve Qwen/Qwen3-8B --served-model-name one two --served-model-name three"
    assert any("given twice, one two and three" in f.message for each in ask(command) for f in each.findings)
    once = "vllm serve Qwen/Qwen3-8B --served-model-name one two three"
    assert not any("given twice" in f.message for each in ask(once) for f in each.findings)


@pytest.mark.parametrize("registry", ["grcr.io", "qauy.io", "nvrc.io", "docke.io"])
def test_a_registry_but_for_a_letter(registry: str) -> None:
    judged = ask(POD.format(image=f"{registry}/team/vllm-server:1"))
    assert sum("but for a letter" in f.message for each in judged for f in each.findings) == 1


@pytest.mark.parametrize("registry", ["gcr.io", "ghcr.io", "quay.io", "ocr.example.io", "registry.local"])
def test_other_registries_are_their_own(registry: str) -> None:
    judged = ask(POD.format(image=f"{registry}/team/vllm-server:1"))
    assert not any("but for a letter" in f.message for each in judged for f in each.findings)


def test_a_model_under_name_is_no_image() -> None:
    text = """model:
  backend: vllm
  name: deepseek-ai/DeepSeek-V3
  tensor_parallel_size: 8
  max_model_len: 8192
  gpu_memory_utilization: 0.9
"""
    assert not any("small letters" in f.message for each in ask(text) for f in each.findings)
