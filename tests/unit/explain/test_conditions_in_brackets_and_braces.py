"""`(( GPUS >= 8 ))` is a condition, and so is a test before `{ … }`: what stands behind it may not run."""

from __future__ import annotations

import pytest

from .judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size $TP"


def size(text: str) -> int | None:
    """The ranks of the one server, None where they are not known."""
    (judged,) = [each for each in ask(f"#!/bin/bash\n{text}\n{SERVE}\n") if each.engine == "vllm"]
    return None if "tp" in judged.unknown or judged.layout is None else judged.layout.tp


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("N=8\nif (( N >= 8 )); then\n  TP=8\nelse\n  TP=4\nfi", 8),
        ("N=4\nif (( N >= 8 )); then TP=8; elif ((N == 4)); then TP=4; else TP=2; fi", 4),
        ("TP=8\nN=16\n(( N > 8 )) && TP=16", 16),
        ("TP=8\nN=8\n(( N > 8 )) && TP=16", 8),
        ("TP=8\nN=8\n(( N > 8 )) || { TP=4; }", 4),
        ("TP=8\nN=${N:-16}\n(( N > 8 && N < 32 )) && { TP=16; }", 16),
        ("TP=8\nN=$(nvidia-smi -L | wc -l)\n(( N > 8 )) && TP=16", None),
        ("TP=8\n(( $1 > 8 )) && TP=16", None),
        ("TP=8\nfor i in 1 2; do (( i > 5 )) && TP=16; done", 8),
        ("TP=8\n(( i++ ))", 8),
    ],
)
def test_numbers_decide(text: str, expected: int | None) -> None:
    assert size(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('TP=8\n[ -n "$BIG" ] && { TP=16; }', None),
        ("TP=8\nMODE=big\n[ $MODE = big ] && { TP=16; }", 16),
        ("TP=8\nMODE=small\n[ $MODE = big ] && { TP=16; }", 8),
        ("MODE=small\n[ $MODE = big ] && { TP=16; } || { TP=4; }", 4),
        ('[ -n "$BIG" ] && { TP=16; } || { TP=4; }', None),
        ("TP=8\n[ -d /models ] || { echo none; TP=1; exit 1; }", 8),
        ("TP=8\nmkdir -p /models && { TP=16; }", 16),
        ("TP=8\n{ TP=16; }", 16),
        ("TP=8\nMODE=big\n[ $MODE = big ] && ( TP=16 )", 8),
    ],
)
def test_what_stands_in_braces_runs_where_the_test_holds(text: str, expected: int | None) -> None:
    assert size(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('case "$1" in\n  small) TP=4 ;;\n  big) TP=16 ;;\n  *) TP=8 ;;\nesac', 8),
        ("case $MODE in small) TP=4 ;; *) TP=8 ;; esac", 8),
        ("case $MODE in small) TP=4 ;; big) TP=16 ;; esac", None),
        ("MODE=$(cat mode)\ncase $MODE in small) TP=4 ;; *) TP=8 ;; esac", None),
        ("case $NODE_RANK in 0) TP=4 ;; *) TP=8 ;; esac", None),
        ("case $(hostname) in a*) TP=4 ;; *) TP=8 ;; esac", None),
        ("read MODE\ncase $MODE in small) TP=4 ;; *) TP=8 ;; esac", None),
    ],
)
def test_a_choice_that_nobody_makes_takes_its_default(text: str, expected: int | None) -> None:
    assert size(text) == expected


def test_a_default_that_ends_the_script_is_not_taken() -> None:
    assert size('case "$1" in\n  small) TP=4 ;;\n  *) echo usage; exit 1 ;;\nesac') == 4
