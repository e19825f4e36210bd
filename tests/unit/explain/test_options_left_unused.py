"""Options in a variable that no line reads, and sizes that a script takes while its start writes them out."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SCRIPT = """#!/usr/bin/env bash
{}
{}
python -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --tp-size 8 --nnodes 2 --node-rank $RANK {}
"""


def told(setting: str, line: str = "", more: str = "") -> list[tuple[str, Severity]]:
    findings = (each for one in ask(SCRIPT.format(setting, line, more)) for each in one.findings)
    return [(each.where, each.severity) for each in findings if "reads it" in each.message or "read by" in each.message]


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("EXTRA=(--enable-dp-attention --dp 8)", ""),
        ("EXTRA=()\nEXTRA+=(--enable-dp-attention)", ""),
        ('EXTRA="--mem-fraction-static 0.9"', 'echo "with $EXTRA"'),
        ("EXTRA=(\n  --enable-dp-attention\n)\nEXTRA+=(--dp 8)", "# EXTRA is what it adds"),
        ("EXTRA=(--dp 8)", "source .venv/bin/activate"),
    ],
)
def test_options_that_nothing_reads(setting: str, line: str) -> None:
    assert told(setting, line) == [("EXTRA", Severity.WARNING)]


@pytest.mark.parametrize(
    ("setting", "line", "more"),
    [
        ("EXTRA=(--dp 8)", "", '"${EXTRA[@]}"'),
        ("EXTRA=(--dp 8)", "ALL=(${EXTRA[@]})", "${ALL[@]}"),
        ("EXTRA=(--dp 8)", "source common.sh", ""),
        ("EXTRA=(--dp 8)", 'echo "$EXTRA" > options.txt', ""),
        ('export EXTRA="--dp 8"', "", ""),
        ("EXTRA=(8 9)", "", ""),
        ("EXTRA=(--dp 8)", 'eval "start $MORE"', ""),
    ],
)
def test_options_that_are_read_or_may_be(setting: str, line: str, more: str) -> None:
    assert told(setting, line, more) == []


@pytest.mark.parametrize(
    "setting", ['TP_SIZE="${2:-8}"', 'export NNODES="${NNODES:-${LWS_GROUP_SIZE}}"', "TP=4", "NNODES=$3"]
)
def test_sizes_that_the_start_writes_out(setting: str) -> None:
    assert [severity for _, severity in told(setting)] == [Severity.NOTE]


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("TP=8", ""),
        ('TP_SIZE="${2:-8}"', 'if [ "$TP_SIZE" != 8 ]; then exit 1; fi'),
        ("export NNODES=$3", "python client.py &"),
        ("DP_SIZE=4", ""),
        ("TP_SIZE=$(nvidia-smi -L | wc -l)", ""),
    ],
)
def test_sizes_that_are_used_or_make_no_difference(setting: str, line: str) -> None:
    assert told(setting, line) == []


def test_options_behind_a_long_value() -> None:
    assert told('EXTRA=" --enable-expert-parallel"', "", f"JSON='{'x' * 2_000}'${{EXTRA}}") == []
