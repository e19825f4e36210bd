"""Sentences around a command: they are no shell, and no words of the command that is corrected."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

SERVE = "vllm serve Qwen/Qwen3-235B-A22B --tensor-parallel-size 8 --port 8123"


@pytest.mark.parametrize(
    ("above", "problems"),
    [
        ("vllm instructions have a typo?\n  --enable-expert-paralel  << is this to be parallel?\n\n", []),
        ("is it the same with\n  --enable-expert-parallel  << or with two of them?\n\n", ["missing-backslash"]),
        ("cat <<EOF > note.txt\nsome text\n\n", ["unclosed"]),
        (f"{SERVE}\n  --enable-expert-parallel\n\n", ["missing-backslash"]),
    ],
)
def test_an_arrow_between_words_begins_no_heredoc(above: str, problems: list[str]) -> None:
    script = read_script(f"{above}# start\n{SERVE}\n")
    assert [problem.code for problem in script.problems] == problems


@pytest.mark.parametrize("label", ["Command:   ", "Launch command: ", "cmd: ", "The command is "])
def test_a_label_is_no_word_of_the_command(label: str) -> None:
    (judged,) = ask(f" Launching:\n {label}{SERVE} --attention-backend FLASHMLA\n")
    assert [line.argv[:3] for line in judged.corrected] == [("vllm", "serve", "Qwen/Qwen3-235B-A22B")]
