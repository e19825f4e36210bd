"""Commands that programs in JavaScript, Go and their like put together from several strings."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged

from .judging import ask

REACT = """import React from 'react';
import Generator from '../base';
"""
PAGE = """const G = () => {
  let cmd = 'python -m sglang.launch_server \\\\\\n';
  cmd += `  --model-path moonshotai/Kimi-K2.5 \\\\\\n  --tp 8`;
  // the port
  cmd += ' --port 8000';
%s
  return cmd;
};
export default G;
"""


def only(text: str) -> Judged:
    (judged,) = ask(text)
    return judged


@pytest.mark.parametrize("head", ["", REACT])
def test_strings_that_follow_are_one_command(head: str) -> None:
    judged = only(head + PAGE % "")
    assert judged.checkpoint is not None
    assert judged.checkpoint.name == "moonshotai/Kimi-K2.5"
    assert judged.layout is not None
    assert (judged.layout.tp, judged.unknown & {"tp"}) == (8, frozenset())


def test_what_a_condition_adds_may_be_more() -> None:
    judged = only(REACT + PAGE % "  if (dp) {\n    cmd += ' --max-context-length 8192';\n  }")
    assert "dp" in judged.unknown
    assert not judged.corrected
    assert any(finding.where == "--max-context-length" for finding in judged.findings)


def test_what_else_adds_is_another_command() -> None:
    page = PAGE % "  if (dp) {\n    cmd += ' --dp 8';\n  } else {\n    cmd += ' --nonsense 1';\n  }"
    judged = only(REACT + page)
    assert "pp" in judged.unknown
    assert not any(finding.where == "--nonsense" for finding in judged.findings)


def test_a_value_of_the_program_is_not_known() -> None:
    judged = only(REACT + PAGE.replace("--tp 8", "--tp ${tpValue}") % "")
    assert "tp" in judged.unknown


def test_python_is_read_as_such() -> None:
    judged = only("import os\nos.system('vllm serve moonshotai/Kimi-K2.5 -tp 8')\n")
    assert judged.layout is not None
    assert judged.layout.tp == 8
