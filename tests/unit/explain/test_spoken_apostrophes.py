"""An apostrophe of a sentence around a command opens no quote."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

COMMAND = (
    """vllm serve moonshotai/Kimi-K2.5 -tp 8 --speculative-config '{"method":"ngram","num_speculative_tokens":3}'"""
)


@pytest.mark.parametrize("indent", ["", "    "])
@pytest.mark.parametrize(
    "sentence",
    ["I'm trying to serve it with drafts:", "We don't get answers, and it's slow", "i've tried this on two machines:"],
)
def test_a_sentence_before_the_command(indent: str, sentence: str) -> None:
    script = read_script(f"{sentence}\n\n{indent}{COMMAND}\n\nIt doesn't answer.\n")
    assert not script.problems
    (judged,) = ask(script)
    assert judged.layout is not None
    assert judged.layout.tp == 8


def test_a_quote_that_a_script_leaves_open_is_told() -> None:
    script = read_script("vllm serve moonshotai/Kimi-K2.5 -tp 8 --served-model-name 'kimi\n")
    assert [problem for problem in script.problems if "never closed" in problem.message]
