"""An option that no recorded release reads without a value ends each start; one that was or may have been a switch is
doubted."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask_one

START = "python3 -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp 4"


def found(words: str) -> Finding:
    (finding,) = [each for each in ask_one(words).findings if "needs a value" in each.message]
    return finding


@pytest.mark.parametrize("option", ["--attention-backend", "--tool-call-parser", "--mem-fraction-static"])
def test_each_parser_ends_there(option: str) -> None:
    finding = found(f"{START} {option}")
    assert finding.severity is Severity.ERROR
    assert "may read it otherwise" not in finding.message


def test_a_name_that_switches_have_is_doubted() -> None:
    options = "llama-server -m a.gguf --flash-attn"
    assert not [each for each in ask_one(options).findings if each.severity is Severity.ERROR]


def test_words_in_a_comment_are_no_value() -> None:
    assert "behind # is a comment" in found(f"```sh\n{START} \\\n  --attention-backend # triton or fa3\n```").remedy


@pytest.mark.parametrize("end", ["--attention-backend", "--attention-backend \\\n  --port 8000  # ours"])
def test_without_one_no_comment_is_spoken_of(end: str) -> None:
    assert "comment" not in found(f"```sh\n{START} {end}\n```").remedy
