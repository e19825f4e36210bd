"""Engines of GGUF files."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

K2 = "llama-server -m /w/Kimi-K2-Instruct-UD-Q2_K_XL-0000{}-of-00008.gguf -c 32768 -ngl 99 -ot exps=CPU "
FIRST = K2.format(1)


def severities(text: str, part: str, version: str = "") -> list[str]:
    judged = ask(text, "", version)
    return [finding.severity.value for one in judged for finding in one.findings if part in finding.message]


@pytest.mark.parametrize(
    ("text", "expected"), [(FIRST, []), (K2.format(2), ["error"]), ("llama-server -m /w/Kimi-K2.gguf", [])]
)
def test_the_first_file_of_a_set(text: str, expected: list[str]) -> None:
    assert severities(text, "first file") == expected


@pytest.mark.parametrize(
    ("text", "version", "expected"),
    [
        (f"{FIRST}--cache-type-v q8_0", "b5880", ["error"]),
        (f"{FIRST}--cache-type-v q8_0 -fa", "b5880", []),
        (f"{FIRST}--cache-type-v q8_0", "b7000", []),
        (f"{FIRST}--cache-type-v q8_0", "", []),
        (f"{FIRST}--cache-type-v q8_0 -fa off", "b10156", ["warning"]),
        (f"{FIRST}--cache-type-v q8_0 -fa on", "b10156", []),
        (f"{FIRST}--cache-type-v f16 -fa off", "b10156", []),
        (f"{FIRST}--cache-type-k q8_0", "b5880", []),
        (f"{FIRST}--cache-type-v $TYPE -fa off", "b10156", []),
    ],
)
def test_values_in_the_cache(text: str, version: str, expected: list[str]) -> None:
    assert severities(text, "wants flash attention", version) == expected


@pytest.mark.parametrize(
    ("version", "expected"), [("b5269", []), ("b6324", []), ("b6325", ["error"]), ("b10156", ["error"])]
)
def test_flash_attention_was_a_switch(version: str, expected: list[str]) -> None:
    assert severities(f"{FIRST}-fa", "needs a value", version) == expected
    assert severities(f"{FIRST}-fa on", "needs a value", version) == []
