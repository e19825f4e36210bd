"""A script that each machine starts with its own rank from outside, and the address of the first one."""

from __future__ import annotations

import pytest

from .judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --pipeline-parallel-size 2 --nnodes 2"
REST = "--trust-remote-code --enable-auto-tool-choice --tool-call-parser kimi_k2 --reasoning-parser kimi_k2"
ASKED = ': "${HEAD_ADDR:?the first machine}"\n'
FROM_OUTSIDE = 'NODE_RANK="${NODE_RANK:-0}"\n'


@pytest.mark.parametrize(
    ("head", "rank", "is_of_all"),
    [
        (FROM_OUTSIDE, '"$NODE_RANK"', True),
        ("", '"${NODE_RANK:-0}"', True),
        ("NODE_RANK=${1:-0}\n", "$NODE_RANK", True),
        ("", "0", False),
    ],
)
def test_whose_script_it_is(head: str, rank: str, is_of_all: bool) -> None:
    text = f"#!/bin/bash\n{head}{SERVE} --node-rank {rank} --master-addr 10.0.0.1 {REST}\n"
    messages = [each.message for judged in ask(text, "2x8xH200") for each in judged.findings]
    assert any("the only command is that of rank 0" in each for each in messages) is not is_of_all


def test_ranks_above_the_first_are_told_to_serve_no_clients() -> None:
    text = f'#!/bin/bash\n{FROM_OUTSIDE}{SERVE} --node-rank "$NODE_RANK" --master-addr 10.0.0.1 {REST}\n'
    remedies = [each.remedy for judged in ask(text, "2x8xH200") for each in judged.findings]
    assert "add --headless where the rank is above 0" in remedies
    told = f"{text}# ranks above 0: the same with --headless\n"
    assert not any("where the rank" in each.remedy for judged in ask(told, "2x8xH200") for each in judged.findings)


@pytest.mark.parametrize(
    ("head", "added"),
    [
        (ASKED, "$HEAD_ADDR"),
        ("MASTER_IP=10.0.0.1\n", "$MASTER_IP"),
        ("export HEAD_ADDR=10.0.0.1\n", "10.0.0.1"),
        ("export HEAD_ADDR=127.0.0.1\n", None),
        ('export MASTER_ADDR="${MASTER_ADDR:-10.0.0.1}"\n', "$MASTER_ADDR"),
        ("", None),
        ("HEAD_IP=10.0.0.1\nMASTER_IP=10.0.0.2\n", None),
    ],
)
def test_the_address_that_the_script_has(head: str, added: str | None) -> None:
    text = f'#!/bin/bash\n{head}{FROM_OUTSIDE}{SERVE} --node-rank "$NODE_RANK" {REST}\n'
    (judged,) = ask(text, "2x8xH200")
    lines = [line for line in judged.corrected if "--master-addr" in line.argv]
    if added is None:
        assert not lines
        return
    (line,) = lines
    assert line.argv[line.argv.index("--master-addr") + 1] == added
    assert not added.startswith("$") or added.removeprefix("$") in line.unresolved, "it is not quoted"
