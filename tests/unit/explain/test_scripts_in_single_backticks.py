"""Scripts of many lines between two single backticks: what they set and start is read, and so is what stands above."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

SCRIPT = """unset http_proxy
local_ip=`hostname -i`
export VLLM_LOGGING_LEVEL=DEBUG
vllm serve moonshotai/Kimi-K2.5 --trust-remote-code --tensor-parallel-size 8"""
FENCED = "The log:\n\n```\nINFO 10-02 09:11:21 [api_server.py:9] started\n```\n"


def words(text: str) -> list[list[str]]:
    commands = read_script(text).commands
    return [[word.text for word in command.words] for command in commands if command.program != "other"]


@pytest.mark.parametrize("closing", ["`", "\n`", "\n`\n"])
@pytest.mark.parametrize("behind", ["", FENCED])
def test_it_is_read_as_in_a_fence(closing: str, behind: str) -> None:
    ticked = f"# Deployment\n\nprefill:\n\n`{SCRIPT}{closing}\n\n{behind}"
    fenced = f"# Deployment\n\nprefill:\n\n```\n{SCRIPT}\n```\n\n{behind}"
    assert words(ticked) == words(fenced) != []
    (command,) = [each for each in read_script(ticked).commands if each.program == "vllm serve"]
    assert command.env["VLLM_LOGGING_LEVEL"].text == "DEBUG"


@pytest.mark.parametrize("behind", ["", FENCED])
def test_no_tick_of_it_is_called_open(behind: str) -> None:
    script = read_script(f"prefill:\n\n`{SCRIPT}\n`\n\n{behind}")
    assert not [problem for problem in script.problems if problem.code == "unclosed"]


def test_one_that_the_text_cuts_is_read_up_to_there() -> None:
    script = read_script(f"prefill:\n\n`{SCRIPT}")
    assert not [problem for problem in script.problems if problem.code == "unclosed"]
    assert words(f"prefill:\n\n`{SCRIPT}") == words(SCRIPT)


def test_a_command_above_it_is_read() -> None:
    above = "vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 16"
    text = f"1. the start:\n{above}\n\n2. what was set before:\n`unset http_proxy\nexport A=1\nexport B=2\n`\n"
    assert words(text) == [above.split()]


def test_a_substitution_that_is_truly_open_is_still_told() -> None:
    script = read_script("#!/bin/bash\nIP=`hostname -i\nvllm serve m --tensor-parallel-size 8\nexport A=1\n")
    assert [problem.code for problem in script.problems if problem.code == "unclosed"] == ["unclosed"]


COMMAND = """vllm serve moonshotai/Kimi-K2.5 --trust-remote-code \\
    --tensor-parallel-size 8
    --gpu-memory-utilization 0.93 \\
    --port 8010"""


@pytest.mark.parametrize("closing", ["`", "\n`", "\n`\n"])
@pytest.mark.parametrize("lead", ["It was started so:\n\n", "On 8 cards: \n"])
def test_a_command_that_lost_a_backslash_is_whole(closing: str, lead: str) -> None:
    ticked, fenced = f"{lead}`{COMMAND}{closing}\n\nIt hangs.\n", f"{lead}\n```\n{COMMAND}\n```\n\nIt hangs.\n"
    assert words(ticked) == words(fenced)
    (command,) = words(ticked)
    assert command[-1] == "8010"
    assert [problem.code for problem in read_script(ticked).problems] == ["missing-backslash"]


def test_a_tick_that_nothing_closes_takes_no_sentences_in() -> None:
    whole = COMMAND.replace("8\n", "8 \\\n")
    (command,) = words(f"It was started so:\n\n`{whole}\n\nAnd then it `hangs`.\n")
    assert command[-1] == "8010"
