"""A script that holds the options of the other machines in a branch is started on each of them."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

HEAD = "--tensor-parallel-size 1 --data-parallel-size 8 --data-parallel-size-local 4 --data-parallel-address $1"
WORKER = "--data-parallel-start-rank 4 --headless"
END = "vllm serve moonshotai/Kimi-K2.6 $ARGS --enable-expert-parallel --trust-remote-code\n"


def asks_for_others(text: str) -> bool:
    (judged,) = ask(text, on="2x4xH200")
    return any("start the others" in finding.remedy for finding in judged.findings)


@pytest.mark.parametrize(
    "branch",
    [
        f'[ "$R" = worker ] && ARGS="$ARGS {WORKER}"',
        f'if [ "$R" = worker ]; then\n  ARGS="$ARGS {WORKER}"\nfi',
        f'case $R in\nworker) ARGS+=" {WORKER}" ;;\nesac',
    ],
)
def test_the_others_are_started_by_its_branch(branch: str) -> None:
    assert not asks_for_others(f'ARGS="{HEAD}"\n{branch}\n{END}')


@pytest.mark.parametrize("line", ["", "# the first machine", "echo headless"])
def test_they_are_asked_for_where_it_has_none(line: str) -> None:
    assert asks_for_others(f'ARGS="{HEAD}"\n{line}\n{END}')
