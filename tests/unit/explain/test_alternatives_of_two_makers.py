"""Devices of two makers in a list under which one command stands for all of them are left open."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask, devices

SERVE = "vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct -tp 8\n"


@pytest.mark.parametrize(
    "line", ["MI355X, MI325X, MI300X or H200", "H200 / MI300X / MI355X", "H200, MI300X, or MI355X"]
)
def test_a_list_of_both_is_told_as_one(line: str) -> None:
    judged = ask(f"# {line}\n{SERVE}")[0]
    told = judged.unjudged if judged.cluster is None else judged.cluster_because
    assert all(kind in told for kind in ("MI300X", "H200"))


@pytest.mark.parametrize("line", ["MI300X, ported from the H200 recipe", "8x MI300X (unlike H200)", "MI300X. Not H200"])
def test_others_named_in_passing_do_not(line: str) -> None:
    assert devices(ask(f"# {line}\n{SERVE}")[0]) == "8xMI300X"
