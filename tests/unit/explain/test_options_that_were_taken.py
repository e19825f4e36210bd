"""An option that the newest release refuses is not taken away where the text shows that the engine took it."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

MAPPED = "llama-server -c 16384 --parallel 8 --mmap -m ~/Kimi-Linear.gguf -ngl 100"
INDEXED = (
    "vllm serve deepseek-ai/DeepSeek-V4-Pro-0813 --trust-remote-code --tensor-parallel-size 8 "
    "--attention_config.use_fp4_indexer_cache=True"
)
WORKER = "(Worker_TP1_EP1 pid=25) ERROR 09-08 13:02:44 [multiproc_executor.py:944] NotImplementedError: not this layer"


def first(text: str) -> Judged:
    return next(each for each in ask(text) if each.layout is not None)


@pytest.mark.parametrize(
    ("command", "option", "words", "taken"),
    [
        (MAPPED, "--mmap", "With one slot the answers are right, with eight they are not.", True),
        (MAPPED, "--mmap", "This one runs:", True),
        (MAPPED, "--mmap", "What is wrong here?", False),
        (INDEXED, "--attention_config.use_fp4_indexer_cache", "Fails on main", False),
    ],
)
def test_text_says_that_it_ran(command: str, option: str, words: str, taken: bool) -> None:
    judged = first(f"{words}\n\n```\n{command}\n```\n")
    (told,) = [each for each in judged.findings if each.where == option]
    assert (told.severity is Severity.NOTE) is taken
    kept = [line for line in judged.corrected if any(word.startswith(option) for word in line.argv)]
    assert taken or not kept


def test_log_of_workers_shows_that_keys_were_read() -> None:
    judged = first(f"Fails on main:\n\n```\n{INDEXED}\n```\n\n```\n{WORKER}\n```\n")
    assert not [each for each in judged.findings if "use_fp4_indexer_cache" in each.where]
    assert judged.version in ("0.28.0", "0.28.1", "0.29.0")
    refused = first(f"```\n{INDEXED}\n```\n\n```\n{WORKER}\nvllm: error: unrecognized arguments: --x\n```\n")
    (told,) = [each for each in refused.findings if "use_fp4_indexer_cache" in each.where]
    assert told.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("error", "read"),
    [
        ("TypeError: Error: --enable-auto-tool-choice and --enable-reasoning cannot be enabled at the same time", True),
        ("vllm: error: unrecognized arguments: --enable-reasoning", False),
        ("Error: --enable-reasoning was removed", False),
    ],
)
def test_error_about_two_options_shows_that_both_were_read(error: str, read: bool) -> None:
    command = (
        "vllm serve Qwen/QwQ-32B --tensor-parallel-size 8 --enable-reasoning --reasoning-parser deepseek_r1 "
        "--enable-auto-tool-choice --tool-call-parser hermes"
    )
    judged = first(f"```\n{command}\n{error}\n```\n")
    assert (judged.version == "0.9.2") is read
    told = [each for each in judged.findings if each.where == "--enable-reasoning" and "no more" in each.message]
    assert bool(told) is not read
