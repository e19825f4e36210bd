"""A key of YAML that is moved in below one with a value of its own: that line is named, and not the sound one above."""

from __future__ import annotations

from moonpad.explain.script import read_script

FILE = """version: "3.9"

  services:
    kimi:
      image: vllm/vllm-openai:v0.24.0
      command: >
        --model moonshotai/Kimi-K2.6
        --tensor-parallel-size 8
"""


def _problems(text: str) -> list[tuple[int, str]]:
    return [(each.line, each.message) for each in read_script(text).problems if each.code == "yaml"]


def test_the_key_is_named_by_its_line() -> None:
    ((line, message),) = _problems(FILE)
    assert line == 3
    assert "below version:, which has a value of its own" in message


def test_another_line_is_still_left_out() -> None:
    ((line, message),) = _problems(FILE.replace("  services:", "services:").replace("      image:", "    ?- [image"))
    assert line > 3
    assert "was left out" in message
