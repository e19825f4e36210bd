"""Places of what stands in a string of a Python program, whose escapes are longer than what they mean."""

from __future__ import annotations

import ast

import pytest

from moonpad.explain.python.literal_places import pieces_of
from moonpad.explain.script import read_script

DOCSTRING = '''"""
Start the server before this:

vllm serve MiniMaxAI/MiniMax-M2 \\
    --tensor-parallel-size 4 \\
    --tool-call-parser minimax_m2
    --enable-auto-tool-choice \\
    --port 8000
"""
from openai import OpenAI
'''


def test_a_lost_backslash_is_at_its_own_line() -> None:
    script = read_script(DOCSTRING)
    (problem,) = [each for each in script.problems if each.code == "missing-backslash"]
    assert problem.line == 6
    (command,) = [each for each in script.commands if each.program != "other"]
    assert command.line == 4
    assert [word.line for word in command.argv if word.text.startswith("--")] == [5, 6, 7, 8]


def test_doubled_backslashes_keep_the_lines_too() -> None:
    script = read_script(DOCSTRING.replace("\\\n", "\\\\\n"))
    (command,) = [each for each in script.commands if each.program != "other"]
    assert command.line == 4
    assert next(word for word in command.argv if word.text == "8000").line == 8


@pytest.mark.parametrize(
    "literal", [r"'a\tb'", r'"\x41b\u0042"', '"""a\\\nb\\\\c"""', "'plain'", r"'\N{BULLET} one'", "''"]
)
def test_each_piece_is_what_stands_there(literal: str) -> None:
    value = ast.literal_eval(literal)
    pieces = pieces_of(literal, value, 10)
    assert "".join(value[piece.start : piece.end] for piece in pieces) == value
    for piece in pieces:
        if piece.exact and piece.end - piece.start > 1:
            assert literal[piece.source_start - 10 : piece.source_end - 10] == value[piece.start : piece.end]


def test_several_literals_beside_each_other_are_one_place() -> None:
    assert pieces_of("'a\\tb' 'c'", "a\tbc", 0) == ()
