"""`` `#GPUs` `` behind an argument: a substitution in which a comment stands alone, so that no word comes of it."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask_one

EMPTY = (
    "`#number of GPUs`",
    "`# a; b | c > d`",
    "$(: number of GPUs)",
    "`: GPUs`",
    "$(# GPUs\n)",
    "``",
    "$()",
    "$(true)",
)
OPEN = ("`echo 3`", "$(echo 3)", "`#GPUs\necho 3`", "$(:; echo 3)", "$(true && echo 3)")


def words(behind: str) -> list[str]:
    (command,) = read_script(f"vllm serve m -tp 2 {behind} --port 1\n").commands
    return [word.text for word in command.argv]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize("behind", EMPTY)
def test_it_is_no_word_as_in_bash(behind: str) -> None:
    script = f"printf '%s\\n' m -tp 2 {behind} --port 1"
    printed = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert words(behind) == printed.stdout.split()


@pytest.mark.parametrize("behind", OPEN)
def test_what_may_print_something_stays_a_word(behind: str) -> None:
    assert len(words(behind)) == len(words("`# nothing`")) + 1


def test_a_command_with_comments_between_its_lines_is_judged() -> None:
    text = (
        "# 2x H200\nvllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code \\\n"
        "  --tensor-parallel-size 2          `#number of GPUs` \\\n  --max-model-len 128000            `#context` \n"
    )
    judged = ask_one(text, on="")
    assert judged.unknown == frozenset()
    assert judged.memory is not None
    assert judged.memory.context == 128_000
