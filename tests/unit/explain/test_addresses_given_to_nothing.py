"""Addresses and counts of machines that a script reads, prints, and gives to no command."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SCRIPT = """#!/bin/bash
PORT="${{1:-30000}}"
{}
echo "Port $PORT"
{}
python -m sglang.launch_server --model-path moonshotai/Kimi-K2.6 --tp 8 --port "$PORT" {}
"""


def _told(setting: str, line: str = "", more: str = "") -> list[str]:
    findings = (each for one in ask(SCRIPT.format(setting, line, more)) for each in one.findings)
    return [each.where for each in findings if "is read and given to no command" in each.message]


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ('HEAD_IP="${2:-10.0.0.1}"', 'echo "Head: $HEAD_IP"'),
        ("NNODES=$2", ""),
        ("NODE_RANK=${NODE_RANK:-0}", "# NODE_RANK is the number of this machine"),
        ("MASTER_ADDR=${2}", 'printf "%s\\n" "$MASTER_ADDR"'),
    ],
)
def test_what_is_only_shown(setting: str, line: str) -> None:
    assert _told(setting, line) == [setting.partition("=")[0]]


@pytest.mark.parametrize(
    ("setting", "line", "more"),
    [
        ('HEAD_IP="${2:-10.0.0.1}"', "", '--nnodes 2 --node-rank 1 --dist-init-addr "$HEAD_IP:5000"'),
        ('HEAD_IP="${2:-10.0.0.1}"', 'ping -c 1 "$HEAD_IP"', ""),
        ('HEAD_IP="${2:-10.0.0.1}"', 'echo "$HEAD_IP head" >> /etc/hosts', ""),
        ("MASTER_ADDR=${2}", "export MASTER_ADDR", ""),
        ("MASTER_ADDR=${2}", "set -a", ""),
        ("NNODES=1", "", ""),
        ('MODEL_IP="${2:-10.0.0.1}"', "", ""),
        ("NNODES=$2", "", '"$@"'),
    ],
)
def test_what_is_used_or_may_be(setting: str, line: str, more: str) -> None:
    assert _told(setting, line, more) == []
