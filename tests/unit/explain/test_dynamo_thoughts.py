"""The parser of thoughts that Dynamo's frontend takes from a vLLM worker is not the engine's own option."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

FRONT = "python3 -m dynamo.frontend --http-port 8000"
OWN = "--model moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code --reasoning-parser"
WORKER = f"python3 -m dynamo.vllm {OWN}"
TOLD = "does not reach Dynamo's frontend"


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (f"{FRONT} &\n{WORKER} kimi_k2", "kimi_k25"),
        (f"{FRONT} &\n{WORKER}=kimi_k2 --dyn-tool-call-parser kimi_k2", "kimi_k25"),
        (f"{FRONT} &\n{WORKER} deepseek_r1", "--dyn-reasoning-parser deepseek_r1"),
        (f"{FRONT} &\n{WORKER} my_own", "of Dynamo's own names"),
    ],
)
def test_the_engines_own_parser_alone_is_told(text: str, remedy: str) -> None:
    found = [f for judged in ask(f"#!/bin/bash\n{text}\n") for f in judged.findings if TOLD in f.message]
    assert [(f.where, f.severity) for f in found] == [("--reasoning-parser", "warning")]
    assert remedy in found[0].remedy
    assert "unless" not in found[0].message


def test_without_the_frontend_it_is_a_note() -> None:
    found = [f for judged in ask(f"{WORKER} kimi_k2\n") for f in judged.findings if TOLD in f.message]
    assert [f.severity for f in found] == ["note"]
    assert "unless" in found[0].message


@pytest.mark.parametrize(
    "text",
    [
        f"{FRONT} &\n{WORKER} kimi_k2 --dyn-reasoning-parser kimi_k25",
        f"{FRONT} &\n{WORKER} kimi_k2 --dyn-reasoning-parser=kimi_k25",
        f"{FRONT} --dyn-chat-processor vllm --reasoning-parser kimi_k2 &\n{WORKER} kimi_k2",
        f"{FRONT} &\n{WORKER} kimi_k2 --disaggregation-mode prefill",
        f"{FRONT} &\n{WORKER} kimi_k2 --use-vllm-tokenizer",
        f"{FRONT} &\npython3 -m dynamo.sglang --model-path moonshotai/Kimi-K2.5 --tp 8 --reasoning-parser kimi_k2",
        f"vllm serve {OWN.removeprefix('--model ')} kimi_k2",
    ],
)
def test_where_the_frontend_gets_one_or_needs_none_nothing_is_said(text: str) -> None:
    assert not [f for judged in ask(f"#!/bin/bash\n{text}\n") for f in judged.findings if TOLD in f.message]


def test_the_corrected_command_has_the_name_that_both_know() -> None:
    worker = ask(f"#!/bin/bash\n{FRONT} &\n{WORKER} deepseek_r1\n")[-1]
    assert worker.corrected is not None
    assert worker.corrected[0].argv[-2:] == ("--dyn-reasoning-parser", "deepseek_r1")
