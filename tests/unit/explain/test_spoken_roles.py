"""Prefill and decode servers by the words above their commands, by containers, by files of options."""

from __future__ import annotations

import pytest

from .judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --port"
LAUNCH = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp 8 --port"


def kinds(text: str) -> list[str]:
    return [judged.kind for judged in ask(text) if judged.layout is not None]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("P 节点：", "D 节点："),
        ("P node (node 0):", "D node (node 1):"),
        ("# prefill node", "# decode node"),
        ("# ---- prefiller", "# ---- decoder"),
        ("## Prefill instance", "## Decode instance"),
        ("1. Prefill:", "2. Decode:"),
        ("# master + prefiller", "# decoder"),
        ("Start script of the prefill pods (two of them):", "Start script of the decode pods:"),
        ("预填充节点：", "解码节点："),
    ],
)
def test_the_line_above_tells_the_role(first: str, second: str) -> None:
    assert kinds(f"{first}\n\n```\n{SERVE} 1\n```\n{second}\n\n```\n{SERVE} 2\n```\n") == ["prefill", "decode"]
    assert kinds(f"{first}\n{LAUNCH} 1\n{second}\n{LAUNCH} 2\n") == ["prefill", "decode"]


@pytest.mark.parametrize(
    "line",
    [
        "# decode context parallel",
        "# chunked prefill is on",
        "## Prefill and decode nodes in one",
        "The prefill node is busy.",
        "Context:",
        "P:D is 1:2:",
        "# decoding speed",
    ],
)
def test_other_lines_tell_none(line: str) -> None:
    assert kinds(f"{line}\n\n```\n{SERVE} 1\n```\n") == ["serve"]


def test_a_key_of_yaml_is_no_title() -> None:
    text = f"decode:\n  replicas: 1\n  command: >\n    {SERVE} 1\n"
    assert "decode" not in kinds(text)


def test_containers_and_files_of_options() -> None:
    run = (
        "docker run -d --gpus all --name kimi-{} vllm/vllm-openai:v0.12.0 --model moonshotai/Kimi-K2-Thinking --tp {}\n"
    )
    assert kinds(run.format("prefiller", 8) + run.format("decoder", 8)) == ["prefill", "decode"]
    assert kinds(run.format("prefiller", 8)) == ["serve"]
    serve = "trtllm-serve m --tp_size 8 --extra_llm_api_options cfg/{}_config.yaml --port {}\n"
    assert kinds(serve.format("ctx", 1) + serve.format("gen", 2)) == ["prefill", "decode"]
    assert kinds(serve.format("gen", 2)) == ["serve"]


@pytest.mark.parametrize("heading", ["### Spec Decode Server", "### Speculative decoding server", "# spec decode node"])
def test_a_server_that_drafts_is_no_side_of_a_pair(heading: str) -> None:
    assert kinds(f"### Baseline Server\n\n```\n{SERVE} 1\n```\n\n{heading}\n\n```\n{SERVE} 2\n```\n") == [
        "serve",
        "serve",
    ]


def test_a_side_that_drafts_is_one() -> None:
    first, second = "### Prefill server", "### Decode server, with speculative decoding"
    assert kinds(f"{first}\n\n```\n{SERVE} 1\n```\n{second}\n\n```\n{SERVE} 2\n```\n") == ["prefill", "decode"]
