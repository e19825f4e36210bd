"""Pastes of terminals that have no fences."""

from __future__ import annotations

import pytest

from .judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8"


@pytest.mark.parametrize("prompt", ["dev@gpu01:~/llm$ ", "(vllm) root@h200:~# ", "[dev@localhost ~]$ "])
def test_a_prompt_is_no_program(prompt: str) -> None:
    (judged,) = ask(f"{prompt}export VLLM_USE_V1=1\n{prompt}{SERVE}\nINFO it starts\n")
    assert judged.engine == "vllm"


def test_what_is_shown_and_then_typed_is_one() -> None:
    (judged,) = ask(f"dev@a:~$ cat start.sh\n{SERVE} --port 1\ndev@a:~$ {SERVE} --port 1\n")
    assert judged.sources[0].line == 3


def test_other_servers_at_prompts_stay() -> None:
    other = SERVE.replace("Thinking", "Instruct")
    assert len(ask(f"{SERVE} --port 1\ndev@a:~$ {other} --port 2\n")) == 2
    assert len(ask(f"dev@a:~$ {SERVE} --port 1\ndev@b:~$ {SERVE} --port 2\n")) == 2
