"""A whole command in round brackets within a sentence is the command, and the sentence is none of it."""

from __future__ import annotations

import pytest

from .judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 8"


@pytest.mark.parametrize(
    "text",
    [
        f"Works ({SERVE}), but slow.\n",
        f"# K2\n\nLaunched with vLLM on eight cards ({SERVE} --port 8001). After an hour: crash.\n",
        f"我用 8 张卡启动（{SERVE}）后报错 OOM\n",
        f"I started it ({SERVE}) and it fails.\n",
    ],
)
def test_it_ends_at_the_bracket(text: str) -> None:
    (judged,) = ask(text)
    (line,) = judged.commands
    assert line.argv[:3] == ("vllm", "serve", "moonshotai/Kimi-K2-Instruct")
    assert judged.layout is not None
    assert judged.layout.tp == 8
    assert not [each for each in judged.findings if "no such argument" in each.message]


@pytest.mark.parametrize(
    "text",
    [
        f"#!/bin/bash\ncd /srv && ({SERVE} &)\n",
        f"if true; then ({SERVE}); fi\n",
        f"({SERVE})\n",
        f"start() (\n  {SERVE}\n)\nstart\n",
    ],
)
def test_brackets_of_a_shell_stay(text: str) -> None:
    (judged,) = ask(text)
    assert judged.layout is not None
    assert judged.layout.tp == 8
