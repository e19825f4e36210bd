"""A fork reads the numbers of its engine's own options as that does."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

FORK = "# ik_llama.cpp\n\nllama-server -m /m/Kimi-K2-Instruct-UD-Q2_K_XL.gguf -mla 3 {}\n"


@pytest.mark.parametrize(("more", "told"), [("-c 32k", True), ("-c 32768", False), ("-mla 3x", False)])
def test_a_number_with_letters(more: str, told: bool) -> None:
    (judged,) = ask(FORK.format(more))
    warned = [each for each in judged.findings if "does not take" in each.message]
    assert [each.severity for each in warned] == [Severity.WARNING] * told


@pytest.mark.parametrize(("size", "told"), [("50g", True), ("50GiB", True), ("51200", False), ("-1", False)])
def test_a_cache_of_prompts_counts_in_mebibytes(size: str, told: bool) -> None:
    (judged,) = ask(FORK.format(f"-cram {size}"))
    assert any("counts MiB" in each.message for each in judged.findings) is told
