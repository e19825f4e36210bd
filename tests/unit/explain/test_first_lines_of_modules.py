"""A program that does not exist comes before what is said of its options."""

from __future__ import annotations

from moonpad.report.explain_verdict import verdict

from .judging import ask


def test_a_module_that_cannot_be_started_is_the_first_error() -> None:
    text = "python -m ktransformers.server --model_path moonshotai/Kimi-K2-Instruct --log-level info\n"
    (judged,) = ask(text)
    sentence, _ = verdict(judged)
    assert sentence.startswith("Error, the first of 2 errors: ktransformers.server: ")
    (right,) = ask(text.replace("ktransformers.server ", "ktransformers.server.main "))
    assert not any("has no module" in each.message for each in right.findings)
