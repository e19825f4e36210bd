"""Columns of a dense MLP that several ranks share, against the groups that have one scale."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


@pytest.mark.parametrize(
    ("model", "tp", "expected"),
    [("OpenGVLab/InternVL3-78B-AWQ", 2, 1), ("OpenGVLab/InternVL3-78B-AWQ", 1, 0), ("OpenGVLab/InternVL3-78B", 2, 0)],
)
def test_groups_of_dense_layers(model: str, tp: int, expected: int) -> None:
    found = [each for one in ask(f"vllm serve {model} -tp {tp}") for each in one.findings]
    assert len([each for each in found if "the groups of 128 do not divide" in each.message]) == expected
