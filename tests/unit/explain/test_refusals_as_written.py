"""Rows that are about an option by one of its names alone."""

from __future__ import annotations

from tests.unit.explain.judging import ask_one

WANTS = "wants --cp-strategy"
TEXT = "sglang serve --model-path zai-org/GLM-5.2-FP8 --tp 8 {}"


def wants(options: str) -> bool:
    judged = ask_one(TEXT.format(options), version="0.5.16")
    return any(WANTS in finding.message for finding in judged.findings)


def test_a_former_name_that_sets_more_is_not_refused() -> None:
    """SGLang 0.5.14 and later fill the strategy in where prefill is divided by a name from before."""
    assert wants("--enable-prefill-cp")
    assert not wants("--enable-nsa-prefill-context-parallel")
    assert not wants("--enable-dsa-prefill-context-parallel --nsa-prefill-cp-mode round-robin-split")
