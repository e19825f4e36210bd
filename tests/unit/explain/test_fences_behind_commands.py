"""A fence that closes its block at the end of the last command's line."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask_one

COMMAND = "vllm serve moonshotai/Kimi-K2-Instruct \\\n  --tensor-parallel-size 8 --trust-remote-code"


@pytest.mark.parametrize("fence", ["```", "``` ", "~~~"])
def test_it_is_no_part_of_the_command(fence: str) -> None:
    text = f"It ends at once:\n\n{fence.strip()}\n{COMMAND}{fence}\n\nOn 8x H200.\n"
    script = read_script(text)
    assert not script.problems
    judged = ask_one(text, on="")
    assert judged.commands[0].argv[-1] == "--trust-remote-code"
    assert not any("``" in finding.message or "~~" in finding.message for finding in judged.findings)


def test_a_substitution_in_backticks_closes_nothing() -> None:
    text = f"```\n{COMMAND} --host `hostname -i`\n```\n"
    assert not read_script(text).problems
