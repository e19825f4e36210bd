"""The pattern that forces a text matches that text and no other; an answer that spells its marks is not judged."""

from __future__ import annotations

import re

import pytest

from moonpad.load.openai_schema import Message, read_json
from moonpad.verify.api import Asked
from moonpad.verify.envelope import TokenLogprob
from moonpad.verify.own_text.kimi_text import read_kimi_text
from moonpad.verify.probes.forced import CALLS, MARKS, ODD_ARGUMENTS, TEXTS, pattern_of, spells_marks


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


def tokens_of(text: str, *, spelled: int) -> tuple[TokenLogprob, ...]:
    """Its marks as tokens, but for the first so many, which are written by their characters."""
    tokens: list[str] = []
    for piece in re.split(f"({'|'.join(map(re.escape, MARKS))})", text):
        if piece in MARKS and spelled == 0:
            tokens.append(piece)
        else:
            spelled -= piece in MARKS
            tokens.extend(piece)
    return tuple(TokenLogprob(token, -0.1, {}) for token in tokens)


@pytest.mark.parametrize("text", CALLS)
def test_whether_the_marks_are_tokens(text: str) -> None:
    """vLLM 0.32 under a regular expression: four calls, of which the model spelled the marks of the last."""
    body: dict[str, object] = {"messages": []}
    answer = Message("", "I look.", "reasoning", finish_reason="tool_calls")
    other = Asked(body, Message("Hello!", finish_reason="stop"), "whole", logprobs=tokens_of(text, spelled=0))

    def asked(spelled: int) -> tuple[Asked, ...]:
        return other, Asked(body, answer, "streamed", logprobs=tokens_of(text, spelled=spelled))

    assert not spells_marks(asked(0), answer, text)
    assert spells_marks(asked(1), answer, text)
    assert spells_marks((other, Asked(body, answer, "whole")), answer, text), "nothing tells"
