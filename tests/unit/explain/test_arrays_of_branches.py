"""What branches put into a variable: only what may hold a layout or a context makes these unknown."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8"
BARE = "vllm serve moonshotai/Kimi-K2.5"


def layout(text: str) -> str:
    """`8` where the layout is known, else why it is not."""
    (judged,) = ask(text)
    if judged.unknown & {"tp", "pp", "dp", "ep"}:
        return judged.unjudged
    return str(judged.layout.world_size) if judged.layout is not None else "none"


@pytest.mark.parametrize(
    "text",
    [
        f'if [ -n "$N" ]; then S=(); else S=(--max-num-seqs 8); fi\n{SERVE} "${{S[@]}}"',
        f'X=()\nif [ "${{D:-1}}" != 0 ]; then X+=(--enforce-eager); else X+=(--seed 1); fi\n{SERVE} "${{X[@]}}"',
        f'if [ -n "$N" ]; then S=""; else S="--enforce-eager --seed 1"; fi\n{SERVE} $S',
        f"case $1 in a) S=(--seed 1);; b) S=(--seed 2);; *) exit 2;; esac\n{SERVE} ${{S[@]}}",
        f'A=({SERVE})\nif [ $R = 0 ]; then A+=(--host 0.0.0.0); else A+=(--headless); fi\n"${{A[@]}}"',
        f'case $1 in\n a) S=\'--speculative-config={{"method":"dspark"}}\';;\n *) S=--seed=3;;\nesac\n{SERVE} $S',
    ],
)
def test_none_of_it_is_of_the_layout(text: str) -> None:
    assert layout(text) == "8"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f'case $1 in a) S=(-pp 2);; b) S=(-tp 4);; esac\n{BARE} "${{S[@]}}"', "${S[@]}"),
        (f'A=({SERVE})\nif [ $R = 0 ]; then A+=(-pp 2); else A+=(--headless); fi\n"${{A[@]}}"', "${A[@]:5}"),
        (f'S=()\ncase $1 in\n a) S=(-pp 2);;\n b) S=(-tp 4);;\n *) exit 2;;\nesac\n{BARE} "${{S[@]}}"', "${S[@]}"),
        (f'if [ $A ]; then S=(--max-model-len 4096); else S=(--seed 1); fi\n{SERVE} "${{S[@]}}"', "${S[@]}"),
        (f'if [ $A ]; then S=($B); else S=(--seed 1); fi\n{SERVE} "${{S[@]}}"', "${S[@]}"),
        (f"if [ $A ]; then S=(--seed 2); else S=(--seed 1); fi\nS=$OTHER\n{SERVE} $S", "$OTHER"),
        (f'if [ $A ]; then S=(--data-parallel-size 2); else S=(--seed 1); fi\n{SERVE} "${{S[@]}}"', "${S[@]}"),
        (f'if [ $A ]; then S=(--config f.yaml); else S=(--seed 1); fi\n{SERVE} "${{S[@]}}"', "${S[@]}"),
    ],
)
def test_it_may_be_of_the_layout(text: str, named: str) -> None:
    assert layout(text).startswith(named)


def test_branches_that_leave_count_for_nothing() -> None:
    text = f'if [ "$1" = big ]; then TP=8\nelse\n echo no; exit 1\nfi\n{BARE} --tensor-parallel-size $TP'
    assert layout(text) == "8"
