"""Nothing is sure of the memory that decode context parallelism needs, unless such a start was measured."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

SERVE = "vllm serve nvidia/Kimi-K2.6-NVFP4 --tensor-parallel-size 4 --kv-cache-dtype fp8 --max-num-seqs 64"


@pytest.mark.parametrize(
    ("more", "confidence"),
    [("", "sure"), (" --decode-context-parallel-size 1", "sure"), (" --decode-context-parallel-size 4", "likely")],
)
def test_how_sure_it_is(more: str, confidence: str) -> None:
    assert ask_one(f"{SERVE}{more}", on="4xB300").confidence == confidence
