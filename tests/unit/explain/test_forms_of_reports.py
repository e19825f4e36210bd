"""What people paste into the forms of issue trackers: headings that speak of what was expected beside what happened,
lists of packages in bold print, sentences without a capital."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask_one

RAY = "vllm serve moonshotai/Kimi-K2-Instruct --tensor-parallel-size 16 --distributed-executor-backend ray\n"
SAID = "After a while I get the following error: assert deserialized_tensor_placeholders == set(range(len(tensors)))\n"


@pytest.mark.parametrize(
    "heading",
    [
        "### What happened + What you expected to happen",
        "## What happened and what was expected",
        "### Actual behavior (expected: answers)",
    ],
)
def test_an_error_below_the_heading_of_a_form_is_one_that_came(heading: str) -> None:
    judged = ask_one(f"{heading}\n\n{SAID}\n```\n{RAY}```\n", on="2x8xH200")
    assert verdict(judged)[0].startswith("Stopped (line 3): Ray's compiled graph")


def test_an_error_below_a_heading_of_errors_in_general_is_not() -> None:
    judged = ask_one(
        f"### Errors to be expected\n\n{SAID.replace('I get', 'one gets')}\n```\n{RAY}```\n", on="2x8xH200"
    )
    assert not [each for each in judged.findings if each.code is Code.LOGGED_FAILURE]


@pytest.mark.parametrize("row", ["**vllm                   0.9.1**", "`vllm                   0.9.1`", "vllm    0.9.1"])
def test_a_row_of_a_list_of_packages_names_the_release(row: str) -> None:
    judged = ask_one(f"pip3 list |grep vllm\n{row}\n\n```\n{RAY}```\n", on="2x8xH200")
    assert judged.version == "0.9.1"


@pytest.mark.parametrize(
    "sentence",
    [
        "**the server comes up, but when a request is posted it's an error**",
        "the server comes up, but it's slow",
        "but it doesn't answer",
    ],
)
def test_an_apostrophe_of_a_sentence_without_a_capital_opens_no_quote(sentence: str) -> None:
    request = """curl http://0.0.0.0:8000/v1/completions -d '{"model": "kimi", "prompt": "hello"}'"""
    script = read_script(f"{RAY}\n{sentence}\n\n{request}\n")
    assert not script.problems


def test_a_word_that_is_a_program_begins_no_sentence() -> None:
    script = read_script("echo it's up\nvllm serve moonshotai/Kimi-K2.5 -tp 8\n")
    assert [problem for problem in script.problems if "never closed" in problem.message]
