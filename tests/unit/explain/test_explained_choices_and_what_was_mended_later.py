"""A symptom in a comment that gives the reason of a choice is avoided, and nobody has it."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.explained_choices import explained_choices
from moonpad.explain.script import read_script
from tests.unit.explain.judging import first_line

SCRIPT = """#!/bin/bash
{}
vllm serve Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 --tensor-parallel-size 8 \\
  --enable-prefix-caching --enable-auto-tool-choice --tool-call-parser qwen3_coder
"""


@pytest.mark.parametrize(
    "comment",
    [
        "# No other parser: it would put streamed answers with thinking off into the reasoning field,\n"
        "# and the content is lost.",
        "# An empty parser must stay empty, or streamed Qwen3 answers with thinking off go into the reasoning field.",
        "# Thinking stays on: streamed answers with thinking off go into the reasoning field, and content is lost.",
    ],
)
def test_the_first_line_asks_for_no_fault_that_the_script_avoids(comment: str) -> None:
    assert explained_choices(read_script(SCRIPT.format(comment)))
    assert "Perhaps a fault" not in first_line(SCRIPT.format(comment))


@pytest.mark.parametrize(
    "comment",
    [
        "# Streamed Qwen3 answers with thinking off go into the reasoning field, and content is lost.",
        "# I tried it because I need thinking off: streamed Qwen3 answers still go into the reasoning field,\n"
        "# and content is lost.",
    ],
)
def test_a_complaint_stays_one(comment: str) -> None:
    assert not explained_choices(read_script(SCRIPT.format(comment)))
    assert "Perhaps a fault" in first_line(SCRIPT.format(comment))


def test_headings_of_a_document_are_no_comments() -> None:
    text = "# Streamed answers are lost because of the parser\n\n```\nvllm serve a/b\n```\n"
    assert not explained_choices(read_script(text))
