"""`eval "$(python3 - <<PY … PY)"`: what a program prints may set the variables that it names."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one, layout

SERVE = 'vllm serve moonshotai/Kimi-K2-Instruct --trust-remote-code --tensor-parallel-size "$TP"\n'
PRINTS = "eval \"$(python3 - <<PY\nprint(f'TP={4 * 2}')\nPY\n)\"\n"


def test_a_variable_that_is_printed_is_not_known() -> None:
    judged = ask_one(f"#!/bin/bash\nTP=1\n{PRINTS}{SERVE}")
    assert "tp" in judged.unknown


@pytest.mark.parametrize("evaluated", ['eval "$(conda shell.bash hook)"', 'eval "$(TP=2 ssh-agent -s)"'])
def test_others_keep_their_values(evaluated: str) -> None:
    judged = ask_one(f"#!/bin/bash\nTP=8\n{evaluated}\n{SERVE}")
    assert layout(judged) == (8, 1, 1)


def test_a_value_that_is_set_behind_it_is_known() -> None:
    assert layout(ask_one(f"#!/bin/bash\n{PRINTS}TP=8\n{SERVE}")) == (8, 1, 1)
