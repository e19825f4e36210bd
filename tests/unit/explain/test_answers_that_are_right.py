"""A report of wrong answers is a note where the text says that its own are right."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.logged_caches import says_answers_are_right
from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

START = "vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code"


def severities(remark: str) -> list[Severity]:
    text = f"# Eight Sparks\n\n{remark}\n\n```bash\n{START}\n```\n"
    findings = (finding for judged in ask(text, "8x1xGB10") for finding in judged.findings)
    return [each.severity for each in findings if each.code is Code.KNOWN_REPORT and "repeated words" in each.message]


@pytest.mark.parametrize(
    ("remark", "expected"),
    [
        ("", Severity.WARNING),
        ("Replayed with 70K tokens: top_p 0.95 = clean.", Severity.NOTE),
        ("All canaries pass, 22 tok/s.", Severity.NOTE),
        ("The answers should be correct.", Severity.WARNING),
        ("Check that the output is coherent before you go on.", Severity.WARNING),
        ("The outputs are not correct.", Severity.WARNING),
        ("Short answers are fine, long ones are gibberish.", Severity.WARNING),
    ],
)
def test_what_was_seen_to_be_right_is_no_warning(remark: str, expected: Severity) -> None:
    assert severities(remark) == [expected]


@pytest.mark.parametrize(
    "line", ["rm -rf build; X=clean", "a == clean", "Is the output correct?", "If the evals pass, go on."]
)
def test_other_words_say_nothing_of_answers(line: str) -> None:
    assert not says_answers_are_right((line,))
