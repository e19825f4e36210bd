"""What a command is started on: an image that has its program already, and a processor with so many cores."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

KT = "python -m sglang.launch_server --model moonshotai/Kimi-K2-Thinking --kt-weight-path w --kt-cpuinfer 88 --tp 8"


def findings(text: str, words: str) -> list[str]:
    return [finding.message for one in ask(text) for finding in one.findings if words in finding.message]


@pytest.mark.parametrize(
    ("spoken", "cores"),
    [
        ("物理CPU数量：2颗\n每颗核心数：24核", 48),
        ("2 颗，每颗 28 核", 56),
        ("two sockets of 32 cores", 64),
        ("2x Xeon Gold 6330 (28 cores each)", 56),
        ("48 physical cores", 48),
        ("Socket(s):             2\nCore(s) per socket:    32", 64),
    ],
)
def test_more_threads_than_cores(spoken: str, cores: int) -> None:
    assert findings(
        f"{spoken}\n\n```bash\n{KT}\n```\n", f"88 threads, and the processors named here have {cores} cores"
    )


@pytest.mark.parametrize(
    "spoken",
    [
        "two sockets of 64 cores",
        "总逻辑CPU数：96核",
        "96 vCPU",
        "one machine has 48 physical cores, the other 64 physical cores",
        "88 cores",
        "2 GPUs of 24 GB, 16 cores",
    ],
)
def test_enough_cores_or_none_that_are_sure(spoken: str) -> None:
    assert not findings(f"{spoken}\n\n```bash\n{KT}\n```\n", "processors named here")


COMPOSE = """\
services:
  kimi:
    image: vllm/vllm-openai:v0.18.1
{}    command: vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8
"""


def test_an_image_that_starts_its_server_gets_the_words_again() -> None:
    assert findings(COMPOSE.format(""), "starts its server by itself")
    assert findings(
        "docker run vllm/vllm-openai:v0.18.1 vllm serve moonshotai/Kimi-K2.5", "starts its server by itself"
    )


@pytest.mark.parametrize(
    "text",
    [
        COMPOSE.format('    entrypoint: [""]\n'),
        COMPOSE.replace("vllm/vllm-openai:v0.18.1", "registry.example.com/own/kimi:1.0").format(""),
        COMPOSE.replace("command: vllm serve", "command: --model").format(""),
        "docker run --entrypoint vllm vllm/vllm-openai:v0.18.1 serve moonshotai/Kimi-K2.5",
        "kind: Pod\nspec:\n  containers:\n  - image: vllm/vllm-openai:v0.18.1\n    command: [vllm, serve, m/K2]\n",
    ],
)
def test_where_the_entrypoint_is_another(text: str) -> None:
    assert not findings(text, "starts its server by itself")


@pytest.mark.parametrize(
    ("image", "before", "severity"),
    [
        ("vllm/vllm-openai:v0.18.1", "", Severity.ERROR),
        ("docker.io/vllm/vllm-openai:latest", "", Severity.ERROR),
        ("vllm/vllm-openai-rocm:v0.18.1", "", Severity.WARNING),
        ("vllm/vllm-openai:v0.18.1", "It starts up fine, but its answers are garbage:\n\n", Severity.WARNING),
    ],
)
def test_it_is_certain_where_every_tag_of_the_image_has_it(image: str, before: str, severity: Severity) -> None:
    text = f"{before}    docker run {image} vllm serve moonshotai/Kimi-K2.5\n"
    said = [finding for one in ask(text) for finding in one.findings if "server by itself" in finding.message]
    assert [finding.severity for finding in said] == [severity]
