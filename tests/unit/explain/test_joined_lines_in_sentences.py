"""A command in a sentence whose lines a forum has joined: `start: python -m … \\ --port 3000 \\ --model m error`."""

from __future__ import annotations

import pytest

from moonpad.explain.commands import Command
from moonpad.explain.script import read_script

FENCED = "\nIt works for me:\n```\nvllm serve moonshotai/Kimi-VL-A3B-Thinking --max-model-len 10000 --port 9000\n```\n"
MODULE = "python -m vllm.entrypoints.openai.api_server"
REST = "\\ --port 3000 \\ --trust-remote-code \\ --model /models/Kimi-VL-A3B-Thinking"
WORDS = ["--port", "3000", "--trust-remote-code", "--model", "/models/Kimi-VL-A3B-Thinking"]


def first(text: str) -> Command:
    return next(each for each in read_script(text).commands if each.program == "vllm serve")


@pytest.mark.parametrize(
    "before", ["### Your environment image: latest 3. start: > ", "I start it by ", "在容器中启动 > ", ""]
)
@pytest.mark.parametrize(
    "behind", [" > Traceback (most recent call last):", " 出现报错 > Traceback", "", ". It fails."]
)
def test_it_is_read_beside_a_fence(before: str, behind: str) -> None:
    command = first(f"# [Bug]\n\n{before}{MODULE} {REST}{behind}\n{FENCED}")
    assert [word.text for word in command.argv[:5]] == WORDS
    assert command.line == 3


def test_its_variables_and_quoted_values_are_its_own() -> None:
    text = (
        f"I run A_B=1 CUDA_VISIBLE_DEVICES=0 vllm serve m/k \\ --port 1 \\ --hf-overrides '{{\"a\": 1}}' now\n{FENCED}"
    )
    command = first(text)
    assert {name: word.text for name, word in command.env.items()} == {"A_B": "1", "CUDA_VISIBLE_DEVICES": "0"}
    assert [word.text for word in command.argv] == ["m/k", "--port", "1", "--hf-overrides", '{"a": 1}']


def test_the_forum_has_joined_the_lines_and_no_shell_reads_that() -> None:
    assert not read_script(f"# [Bug]\n\nI start it by {MODULE} {REST}\n{FENCED}").problems


@pytest.mark.parametrize(
    "line",
    ["Put a \\ behind vllm serve m when it goes on.", "we say C:\\ vllm serve m --port 1 there", "vllm serve \\ m"],
)
def test_other_backslashes_begin_no_command(line: str) -> None:
    assert first(f"{line}\n{FENCED}").line > 1
