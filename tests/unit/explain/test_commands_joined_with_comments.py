"""Commands whose lines a post has joined, with the comments that stood behind their backslashes."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

HEAD = "llama-server \\ -m /models/a-Q4_K_M.gguf \\ --n-cpu-moe 36 "


def the_one(text: str) -> Judged:
    (judged,) = ask(text)
    return judged


def corrected(text: str) -> str:
    return "\n".join(" ".join(line.argv) for line in the_one(text).corrected)


@pytest.mark.parametrize(
    "comment",
    ["#it has 36 of them. Fewer are slower.", "# all of them", "#well-known, cpu-moe 36 means all, twenty-four too"],
)
def test_what_stands_behind_a_comment_is_of_the_command(comment: str) -> None:
    text = f"{HEAD}\\ {comment} --n-gpu-layers 99 \\ #the rest -c 4096 \\ --jinja \\ --host 127.0.0.1"
    assert "--n-gpu-layers 99 -c 4096 --jinja --host 127.0.0.1" in corrected(text)
    assert "means" not in corrected(text)


def problems(text: str) -> list[str]:
    return [each.message for each in read_script(text).problems if "backslash" in each.message]


def test_the_words_of_such_a_comment_are_arguments() -> None:
    (message,) = problems(f"{HEAD}\\ #one of 36 \\ --jinja")
    assert "begins no comment" in message
    assert "apostrophe" not in message
    (message,) = problems(f"{HEAD}\\ #it doesn't matter \\ --jinja")
    assert "apostrophe opens a quote" in message


def test_without_comments_nothing_is_said_of_them() -> None:
    (message,) = problems(f"{HEAD}\\ -c 4096 \\ --jinja")
    assert "#" not in message


def test_what_the_post_says_below_is_no_argument() -> None:
    text = f"{HEAD}\\ --jinja \\ eval time = 5433.28 ms / 98 tokens ( 55.44 ms per token)"
    assert "eval" not in corrected(text)
    assert not [each for each in the_one(text).findings if "takes no such argument" in each.message]


@pytest.mark.parametrize(("blanks", "says"), [(" ", "begins an argument"), ("  ", "a comment follows")])
def test_one_blank_behind_a_backslash_makes_an_argument_of_a_comment(blanks: str, says: str) -> None:
    text = f"vllm serve moonshotai/Kimi-K2-Instruct \\{blanks}# eight of them\n  --tensor-parallel-size 16\n"
    (message,) = problems(text)
    assert says in message
