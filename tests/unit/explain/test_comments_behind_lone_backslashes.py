"""A comment within a command is in the first line of the answer, wherever lines with a backslash alone stand."""

from __future__ import annotations

import pytest

from .judging import first_line

HEAD = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code \\\n"
TAIL = "    --enable-auto-tool-choice --tool-call-parser kimi_k2\n"


@pytest.mark.parametrize("between", ["", "    \\\n", "    \\\n  \\\n"])
def test_the_shell_is_the_verdict(between: str) -> None:
    line = 2 + between.count("\n")
    text = f"{HEAD}{between}    # tools\n{TAIL}"
    assert first_line(text).startswith(f"The shell does not read it as meant (line {line})")


def test_a_comment_of_another_command_is_not() -> None:
    text = f"{HEAD}    --port 8000\n\n# tools\necho done\n"
    assert not first_line(text).startswith("The shell does not")
