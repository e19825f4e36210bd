"""`[-tp 2]` in a command that a text shows: a part that may be left out is named, and judged as left out."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Severity
from tests.unit.explain.judging import only_server

START = "vllm serve Qwen/Qwen3-8B --port 8002"


@pytest.mark.parametrize(
    "part", ["[-tp 2]", "[--tensor-parallel-size 4]", "[--enforce-eager]", "[--max-model-len=4096]"]
)
def test_a_part_in_brackets_is_named_and_left_out(part: str) -> None:
    judged = only_server(f"Run it so:\n\n```\n{START} {part}\n```\n")
    (note,) = [each for each in judged.findings if "may be left out" in each.message]
    assert note.severity is Severity.NOTE
    assert note.where == part
    assert judged.layout is not None
    assert judged.layout.tp == 1


@pytest.mark.parametrize("words", ["--served-model-name [a]", "[options]", "--limit-mm-per-prompt '[-1]'"])
def test_other_brackets_are_none(words: str) -> None:
    judged = only_server(f"Run it so:\n\n```\n{START} {words}\n```\n")
    assert not [each for each in judged.findings if "may be left out" in each.message]
