"""The ranks that a remedy names leave Marlin rows of down that it has a kernel for."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def remedies(model: str, version: str) -> list[str]:
    found = ask(f"vllm serve {model} -tp 4", "4xA100", version)[0].findings
    return [each.remedy for each in found if "go to Marlin" in each.message or "run through Marlin" in each.message]


@pytest.mark.parametrize("model", ["zai-org/GLM-4.5V-FP8", "zai-org/GLM-4.6V-FP8", "zai-org/GLM-4.5-Air-FP8"])
def test_two_ranks_are_no_way_out(model: str) -> None:
    """10944 / 2 = 5472 rows, which 64 do not divide."""
    found = remedies(model, "0.11.0")
    assert found
    assert not any("size 2" in each or "take 2 ranks" in each for each in found)
    assert all("pipeline parallelism" in each and "0.24.0" in each for each in found)
