"""A script that tests for one file of weights and loads another one."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask

SCRIPT = """\
#!/bin/sh
if {test}; then
  exit 1
fi
llama-server -m {loaded} --port 8041 {more}
"""
TESTED = '[ ! -f "/w/Qwen3-32B-Q2_K.gguf" ]'


def told(test: str, loaded: str, more: str = "") -> list[str]:
    text = SCRIPT.format(test=test, loaded=loaded, more=more)
    return [each.message for judged in ask(text) for each in judged.findings if "tests for" in each.message]


@pytest.mark.parametrize(
    ("test", "loaded"),
    [
        (TESTED, "/w/Qwen3-32B-Q4_K_M.gguf"),
        ("[[ ! -e ./w/GLM-4.6-UD-Q2_K_XL-00001-of-00003.gguf ]]", "w/GLM-4.6-UD-Q4_K_XL-00001-of-00005.gguf"),
        ("! test -s /w/a-IQ4_XS.gguf", "/w/a-Q8_0.gguf"),
        ("[ ! -f $DIR/a-IQ4_XS.gguf ]", "/w/a-Q8_0.gguf"),
    ],
)
def test_another_file(test: str, loaded: str) -> None:
    (message,) = told(test, loaded)
    assert message.startswith("line 2 tests for ")


@pytest.mark.parametrize(
    ("test", "loaded", "more"),
    [
        (TESTED, "/w/Qwen3-32B-Q2_K.gguf", ""),
        (TESTED, "/other/Qwen3-32B-Q2_K.gguf", ""),
        (TESTED, "/w/gpt-oss-20b-Q4_K_M.gguf", ""),
        (TESTED, "/w/Qwen3-32B-Q4_K_M.gguf", "-md /w/Qwen3-32B-Q2_K.gguf"),
        ("[ ! -f /w/mmproj-Q4_K_M.gguf ]", "/w/Qwen3-32B-Q4_K_M.gguf", ""),
        ("[ ! -f $FILE ]", "/w/Qwen3-32B-Q4_K_M.gguf", ""),
    ],
)
def test_no_other_file(test: str, loaded: str, more: str) -> None:
    assert told(test, loaded, more) == []


def test_parts_that_cannot_be_stand_in_the_first_line() -> None:
    (judged,) = ask("llama-server -m /w/Kimi-K2.6-UD-Q4_K_XL-00001-of-00004.gguf -c 8192\n")
    assert verdict(judged)[0].startswith("Will likely fail: -m: ")
