"""Devices that a line counts for a layout that takes more of them."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.6 --trust-remote-code --tensor-parallel-size 2 --pipeline-parallel-size 2"


def told(said: str, command: str = SERVE) -> list[str]:
    found = [each for one in ask(f"{said}\n{command}\n") for each in one.findings if "for this layout" in each.message]
    assert all(each.severity is Severity.WARNING for each in found)
    return [f"{each.message} => {each.remedy}" for each in found]


@pytest.mark.parametrize(
    "said", ["#   - 2+ GPUs (for TP=2 PP=2)", "# Two GPUs: TP2 PP2", "# 需要 2 张卡（tensor parallel 2，pp=2）"]
)
def test_fewer_than_the_layout_takes(said: str) -> None:
    (finding,) = told(said)
    assert "counts 2 devices for this layout, which takes 4 (2 x 2)" in finding
    assert finding.endswith("take 4 devices, or a layout of 2")


@pytest.mark.parametrize(
    "said",
    [
        "# 4 GPUs (TP=2 PP=2)",
        "# 2 GPUs per node (TP=2 PP=2)",
        "# two nodes with 2 GPUs (TP=2, PP=2)",
        "# 每台 2 张卡，TP=2 PP=2",
        "# 2 GPUs are not enough for TP=2 PP=2",
        "# 2 GPUs (for TP=2)",  # of another start
        "# 2 GPUs",
    ],
)
def test_as_many_or_of_a_part(said: str) -> None:
    assert told(said) == []
