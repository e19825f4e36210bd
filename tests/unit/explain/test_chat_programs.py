"""Programs that chat in a terminal, and prompts of shells before commands."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

GGUF = "unsloth/Kimi-K2-Instruct-GGUF:UD-Q2_K_XL"


def judged_of(text: str) -> list[Judged]:
    return list(judge(read_script(text), Question()))


@pytest.mark.parametrize(
    ("line", "model", "context"),
    [
        (f"./llama-cli -hf {GGUF} -c 16384 -ngl 99 -cnv --color -p Hello", GGUF, 16384),
        (f"llama-mtmd-cli -hf {GGUF} --ctx-size 8192 --image a.png", GGUF, 8192),
        ("llama-run --context-size 4096 -n 99 hf://me/Kimi-K2-GGUF/k-00001-of-00009.gguf", "me/Kimi-K2-GGUF", 4096),
        ("llama-cli -m k-00001-of-00009.gguf -c 2048", "k-00001-of-00009.gguf", 2048),
    ],
)
def test_chats_load_the_model(line: str, model: str, context: int) -> None:
    (judged,) = judged_of(f"On 8x H200:\n\n```\n{line}\n```\n")
    assert judged.engine == "llama-cpp"
    assert model in judged.model_written
    assert judged.settings is not None
    assert judged.settings.max_model_len == context
    assert not [each for each in judged.findings if "unknown" in each.code.value]
    assert not judged.corrected
    assert not judged.better


@pytest.mark.parametrize("line", ["llama-cli --version", "llama-run --help", "llama-quantize -m a.gguf"])
def test_what_loads_nothing_is_no_deployment(line: str) -> None:
    assert not [each for each in judged_of(f"```\n{line}\n```\n") if each.layout is not None]


def test_a_server_goes_before_the_chat() -> None:
    text = f"```\nllama-cli -hf {GGUF} -c 1024\nllama-server -hf {GGUF} -c 8192\n```\n"
    (judged,) = judged_of(text)
    assert judged.settings is not None
    assert judged.settings.max_model_len == 8192


@pytest.mark.parametrize(
    "prompt",
    ["➜  sglang git:(main) ✗ ", "➜  ~ ", "❯ ", "me@mac dir % ", "host:run me$ ", "(venv) me@host:~/x$ ", "$ "],
)
def test_prompts(prompt: str) -> None:
    text = f"Typed:\n\n```\n{prompt}vllm serve moonshotai/Kimi-K2-Instruct -tp 8\nINFO the engine starts\n```\n"
    (judged,) = judged_of(text)
    assert judged.checkpoint is not None
    assert judged.layout is not None
    assert judged.layout.tp == 8


@pytest.mark.parametrize("line", ["➜ the next step", "me@mac: 5 % of it"])
def test_no_prompts(line: str) -> None:
    text = f"```\nvllm serve moonshotai/Kimi-K2-Instruct -tp 8\n{line}\n```\n"
    (judged,) = judged_of(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8
