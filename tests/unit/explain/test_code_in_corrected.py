"""A corrected command of a checkpoint that brings code: older releases, which may be meant, load it with an option."""

from __future__ import annotations

import pytest

from .judging import ask

OPTION = "--trust-remote-code"
SERVE = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8"
SLIP = " --gpu-memory-util 0.9"


@pytest.mark.parametrize(
    ("command", "version", "added"),
    [
        (f"{SERVE}{SLIP}", "", True),
        (f"{SERVE}{SLIP}", "0.30.0", False),  # has classes of its own
        (f"{SERVE}{SLIP} --tokenizer /models/own", "", False),
        (f"{SERVE.replace('moonshotai/Kimi-K2-Thinking', 'Qwen/Qwen3-32B')}{SLIP}", "", False),
    ],
)
def test_it_is_added_to_what_is_corrected(command: str, version: str, added: bool) -> None:
    (judged,) = ask(f"{command}\n", version=version)
    (line,) = judged.corrected
    assert "--gpu-memory-utilization" in line.argv
    assert (OPTION in line.argv) is added


def test_it_alone_is_no_reason_for_a_correction() -> None:
    whole = f"{SERVE} --enable-auto-tool-choice --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"
    (judged,) = ask(f"{whole}\n")
    assert [line.argv for line in judged.corrected] == [line.argv for line in judged.commands]


def test_it_stands_once() -> None:
    (judged,) = ask(f"{SERVE}{SLIP} {OPTION}\n")
    assert [word for line in judged.corrected for word in line.argv].count(OPTION) == 1
