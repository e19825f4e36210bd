"""Texts of options in YAML of which one line lacks its backslash."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

CHART = """
server:
  model: moonshotai/Kimi-K2-Instruct
  image: lmsysorg/sglang:v0.5.9
  framework: sglang
  tpSize: 8
  {key}: {style}
    --trust-remote-code \\
    --context-length 32768{first}
    --mem-fraction-static 0.9 \\
    --tool-call-parser kimi_k2{last}
"""


def lost(text: str) -> list[str]:
    return [
        finding.message
        for judged in ask(text)
        for finding in judged.findings
        if "does not end with a backslash" in finding.message
    ]


def test_a_line_without_a_backslash_among_others_is_told() -> None:
    (message,) = lost(CHART.format(key="extraArgs", style="|", first="", last=" \\"))
    assert "line 9" in message
    assert "--mem-fraction-static" in message


@pytest.mark.parametrize(
    ("style", "first", "last"),
    [
        ("|", " \\", ""),  # the last one ends the command
        ("|", " \\", " \\"),
        (">-", "", ""),  # lines are folded into one
    ],
)
def test_nothing_is_told_where_nothing_is_lost(style: str, first: str, last: str) -> None:
    assert lost(CHART.format(key="extraArgs", style=style, first=first, last=last)) == []


def test_lines_that_never_have_one_are_split_by_the_chart() -> None:
    text = CHART.format(key="extraArgs", style="|", first="", last="").replace(" \\\n", "\n")
    assert lost(text) == []


def test_a_script_in_a_container_is_told_by_the_shell() -> None:
    text = """
spec:
  containers:
    - name: server
      image: vllm/vllm-openai:v0.11.0
      command: ["sh", "-c"]
      args:
        - |
          vllm serve moonshotai/Kimi-K2-Instruct \\
            --tensor-parallel-size 8 \\
            --trust-remote-code
            --max-model-len 4096
"""
    from moonpad.explain.script import read_script

    script = read_script(text)
    assert [(problem.code, problem.line) for problem in script.problems] == [("missing-backslash", 11)]
    assert lost(text) == []
