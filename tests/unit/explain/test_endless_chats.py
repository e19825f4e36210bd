"""A program that only chats, asked to complete one prompt and end."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

FILE = "/models/Kimi-K2.5-UD-Q2_K_XL-00001-of-00008.gguf"


def judged_of(text: str, version: str = "") -> Judged:
    (judged,) = judge(read_script(text), Question(version=version))
    return judged


def told(judged: Judged) -> list[str]:
    return [each.where for each in judged.findings if "waits for input" in each.message]


@pytest.mark.parametrize(
    "line",
    [
        f'llama-cli -m {FILE} -n 64 -no-cnv -p "Say hello." > out.txt',
        f"./build/bin/llama-cli --model {FILE} --prompt Hello --no-conversation",
        f'BIN=/opt/llama/bin/llama-cli\n"$BIN" -m {FILE} -no-cnv \\\n  -p "Say hello."',
    ],
)
def test_it_waits_though_it_is_told_not_to_chat(line: str) -> None:
    assert told(judged_of(f"#!/bin/bash\n{line}\n"))


@pytest.mark.parametrize(
    ("line", "version"),
    [
        (f"llama-cli -m {FILE} -no-cnv -st -p Hello", ""),
        (f"llama-cli -m {FILE} -p Hello", ""),
        (f"llama-cli -m {FILE} -no-cnv -p Hello", "b6301"),
        (f"llama-mtmd-cli -m {FILE} -no-cnv -p Hello", ""),
        (f"llama-server -m {FILE}", ""),
    ],
)
def test_one_turn_and_older_builds_end(line: str, version: str) -> None:
    assert not told(judged_of(f"#!/bin/bash\n{line}\n", version))


def test_its_own_options_are_shown_with_the_command() -> None:
    (line,) = judged_of(f"#!/bin/bash\nllama-cli -m {FILE} -no-cnv --no-warmup \\\n  -p 'Say hello.'\n").commands
    assert line.argv == ("llama-cli", "-m", FILE, "--no-warmup", "-no-cnv", "-p", "Say hello.")
