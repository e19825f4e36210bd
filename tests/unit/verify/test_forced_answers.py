"""The pattern that forces a text: it matches that text and no other."""

from __future__ import annotations

import re

import pytest

from moonpad.load.openai_schema import read_json
from moonpad.verify.own_text.kimi_text import read_kimi_text
from moonpad.verify.probes.forced import CALLS, ODD_ARGUMENTS, TEXTS, pattern_of


@pytest.mark.parametrize("text", [*TEXTS, *CALLS, ".*", r"a\b{2}[c]|d?^$"])
def test_the_pattern_matches_that_text_alone(text: str) -> None:
    """By Python's own reading of regular expressions."""
    pattern = re.compile(pattern_of(text))
    assert pattern.fullmatch(text)
    for place in range(0, len(text), 7):
        assert not pattern.fullmatch(text[:place] + text[place + 1 :])
        assert not pattern.fullmatch(f"{text[:place]}~{text[place + 1 :]}")


def test_the_forced_calls_are_whole_by_the_familys_grammar() -> None:
    numbers = []
    for text in CALLS:
        answer = read_kimi_text(text, "stop")
        assert answer.problem == ""
        assert [call.id.rpartition(":")[2] for call in answer.calls] == [str(n) for n in range(len(answer.calls))]
        assert all(isinstance(read_json(call.arguments), dict) for call in answer.calls)
        numbers.append(len(answer.calls))
    assert sorted(numbers) == [2, 3, 5]
    assert read_json(ODD_ARGUMENTS) is not None
