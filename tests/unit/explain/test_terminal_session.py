"""Pastes of terminals that have no fences."""

from __future__ import annotations

import pytest

from .judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8"


@pytest.mark.parametrize("prompt", ["dev@gpu01:~/llm$ ", "(vllm) root@h200:~# ", "[dev@localhost ~]$ "])
def test_a_prompt_is_no_program(prompt: str) -> None:
    (judged,) = ask(f"{prompt}export VLLM_USE_V1=1\n{prompt}{SERVE}\nINFO it starts\n")
    assert judged.engine == "vllm"


@pytest.mark.parametrize(
    "prompt", ["machine A 10.0.0.1> ", "node1 192.168.1.1$ ", "10.10.x.x> ", "gpu-1> ", "machine B> ", "10.0.0.1# "]
)
def test_the_name_and_the_address_of_a_machine_are_a_prompt(prompt: str) -> None:
    (judged,) = ask(f"{prompt}{SERVE} --port 8001\n")
    assert judged.commands[0].argv[:3] == ("vllm", "serve", "moonshotai/Kimi-K2-Thinking")


@pytest.mark.parametrize("line", ["a> b.txt", "use 10.0.0.1> for it", "TP 8> it serves"])
def test_a_sign_before_other_words_is_no_prompt(line: str) -> None:
    (judged,) = ask(f"{line}\n\n{SERVE}\n")
    assert judged.sources[0].line == 3


def test_what_is_shown_and_then_typed_is_one() -> None:
    (judged,) = ask(f"dev@a:~$ cat start.sh\n{SERVE} --port 1\ndev@a:~$ {SERVE} --port 1\n")
    assert judged.sources[0].line == 3


def test_other_servers_at_prompts_stay() -> None:
    other = SERVE.replace("Thinking", "Instruct")
    assert len(ask(f"{SERVE} --port 1\ndev@a:~$ {other} --port 2\n")) == 2
    assert len(ask(f"dev@a:~$ {SERVE} --port 1\ndev@b:~$ {SERVE} --port 2\n")) == 2


def test_a_dollar_alone_is_a_prompt_and_what_follows_was_printed() -> None:
    (judged,) = ask(
        "$ nvidia-smi -L\nGPU 0: NVIDIA H20 (UUID: GPU-1)\nGPU 1: NVIDIA H20 (UUID: GPU-2)\n"
        f"$ {SERVE} \\\n>   --enable-prefix-caching\nRuntimeError: no (memory\n"
    )
    (source,) = judged.sources
    assert [word.text for word in source.words][:2] == ["vllm", "serve"]
    assert source.words[-1].text == "--enable-prefix-caching"


def test_a_file_that_is_typed_at_a_dollar_is_kept() -> None:
    judged = ask(f"$ cat > run.sh <<EOF\n{SERVE}\nEOF\n$ docker ps\n")
    assert [each.engine for each in judged] == ["vllm"]


def test_dollars_that_are_no_prompts() -> None:
    (judged,) = ask(f"It costs\n$ 5 per hour (spot)\n{SERVE}\n")
    assert judged.engine == "vllm"
