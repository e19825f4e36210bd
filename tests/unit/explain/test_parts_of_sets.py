"""How many parts a set of GGUF files has by its name: experts published in four bits are not stored in more."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def is_doubted(name: str) -> bool:
    judged = ask(f"llama-server -m /models/{name} -ngl 99\n")
    return any("there is hardly such a file" in finding.message for each in judged for finding in each.findings)


@pytest.mark.parametrize(
    "name",
    [
        "Kimi-K2.6-UD-Q8_K_XL-00001-of-00014.gguf",
        "Kimi-K2-Thinking-UD-Q6_K_XL-00001-of-00013.gguf",
        "Kimi-K2-Instruct-UD-Q4_K_XL-00001-of-00013.gguf",
    ],
)
def test_they_hold_it(name: str) -> None:
    assert not is_doubted(name)


@pytest.mark.parametrize(
    "name", ["Kimi-K2.6-UD-Q8_K_XL-00001-of-00004.gguf", "Kimi-K2-Instruct-UD-Q8_K_XL-00001-of-00008.gguf"]
)
def test_they_do_not(name: str) -> None:
    assert is_doubted(name)
