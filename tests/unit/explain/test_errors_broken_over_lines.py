"""An error that was broken over lines when it was pasted is shown whole, and known by its whole words."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code
from tests.unit.explain.judging import only_server

HEAD = "8x H200\n\n```bash\nvllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8 --trust-remote-code\n```\n\n"


def told(block: str) -> str:
    judged = only_server(f"{HEAD}```text\n{block}\n```\n")
    return next(finding.message for finding in judged.findings if finding.code is Code.LOGGED_FAILURE)


@pytest.mark.parametrize(
    ("block", "end"),
    [
        ("ValueError: Frob models with Bar require\n  frob_size <= bar_size", "require frob_size <= bar_size"),
        ("ValueError: FrobConnector does not support\n  bars. Please set\n  --no-frob", "Please set --no-frob"),
        ("ValueError: frob is not supported ('a' of\n  'b')", "('a' of 'b')"),
    ],
)
def test_the_rest_of_its_sentence_is_shown(block: str, end: str) -> None:
    assert end in told(block)


@pytest.mark.parametrize(
    "below",
    [
        "INFO 03-24 15:39:40 [a.py:74] more",
        '  File "torch/a.py", line 3, in f',
        "Traceback (most recent call last):",
        "The engine was then started again.",
    ],
)
def test_what_begins_something_else_is_not_of_it(below: str) -> None:
    message = told(f"ValueError: frob does not support bars\n{below}")
    assert below.strip()[:12] not in message


def test_a_known_error_is_known_when_it_is_broken() -> None:
    rest = "block_size <= max_num_batched_tokens < 2 * block_size"
    block = f"  ValueError: Mamba-hybrid models with LMCache require\n  {rest}"
    sentence = verdict(only_server(f"{HEAD}```text\n{block}\n```\n"))[0]
    assert "fewer than two blocks" in sentence
