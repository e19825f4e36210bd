"""Prompts of zsh that name a branch, `folder git:(branch) ✗`, also where the arrow in front was lost; and a start above
the first prompt."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask_one, only_server

START = "vllm serve moonshotai/Kimi-K2-Instruct -tp 8 --max-model-len 4096"
PROMPTS = ["repo git:(my_branch) ✗ ", "  repo git:(fix/a-b) ", "➜  ~/src/repo git:(main) ✗ ", "(venv) repo git:(main) "]


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("fence", ["```shell\n{}\n```\n", "```\n{}\n```\n", "{}\n"])
def test_a_start_behind_such_a_prompt(prompt: str, fence: str) -> None:
    judged = ask_one(fence.format(f"{prompt}{START}"))
    assert judged.layout is not None
    assert judged.layout.tp == 8


@pytest.mark.parametrize("prompt", PROMPTS)
def test_what_else_is_typed_there_has_no_mistakes_of_a_shell(prompt: str) -> None:
    text = f"## Accuracy\n\n```shell\nNCCL_DEBUG=INFO {START}\n\n{prompt}python3 bench.py --n 8\n\nAccuracy: 0.9\n```\n"
    script = read_script(text)
    assert not script.problems
    judged = only_server(text)
    assert judged.settings is not None
    assert judged.settings.max_model_len == 4096
    assert "NCCL_DEBUG" in judged.sources[0].env


def test_what_was_printed_above_a_prompt_is_not_typed() -> None:
    text = f"```shell\nloaded: (3 parts\n\nrepo git:(main) ✗ {START}\n```\n"
    script = read_script(text)
    assert not script.problems
    assert only_server(text).layout is not None


def test_a_bracket_of_a_command_is_still_one() -> None:
    assert read_script(f"```sh\n{START} (x)\n```\n").problems
