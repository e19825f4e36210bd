"""Words of a command in a list: numbers in Python, two words in one item, a text in the place of a list."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.report.explain_view import explain_view
from tests.unit.explain.judging import ask

PYTHON = """import subprocess
cmd = ["vllm", "serve", "moonshotai/Kimi-K2-Thinking", "--tensor-parallel-size", {size}, "--trust-remote-code"]
{more}
subprocess.{call}
"""


def problems(text: str) -> list[str]:
    return [problem.message for problem in read_script(text).problems if problem.code == "number-as-word"]


@pytest.mark.parametrize(
    ("size", "more", "call"),
    [
        ("8", "", "Popen(cmd)"),
        ("8", "", "run(cmd, check=True)"),
        ('"8"', 'cmd += ["--port", 8001]', "check_call(cmd)"),
        ('"8"', "cmd.append(0.95)", "run(cmd)"),
    ],
)
def test_a_number_is_no_word(size: str, more: str, call: str) -> None:
    (message,) = problems(PYTHON.format(size=size, more=more, call=call))
    assert "TypeError" in message


@pytest.mark.parametrize(
    ("size", "more", "call"),
    [
        ('"8"', "", "Popen(cmd)"),
        ("8", "", "Popen([str(word) for word in cmd])"),
        ("8", "cmd = [str(word) for word in cmd]", "run(cmd)"),
        ("8", "", 'run(" ".join(map(str, cmd)), shell=True)'),
        ("str(8)", "", "run(cmd)"),
    ],
)
def test_what_is_made_a_text_is_one(size: str, more: str, call: str) -> None:
    assert not problems(PYTHON.format(size=size, more=more, call=call))


def test_the_first_line_says_who_refuses_it() -> None:
    script = read_script("# 8x H200\n" + PYTHON.format(size="8", more="", call="run(cmd)"))
    text = explain_view(ask(script), script, 120).plain
    assert text.startswith("Python does not start it (line 3). As meant: Fits")
    assert "Python: 8 is a number" in text


COMPOSE = """services:
  kimi:
    image: vllm/vllm-openai:v0.20.0
    command: ["--model", "moonshotai/Kimi-K2.6", "{item}", "--trust-remote-code"]
"""
DOCKERFILE = """FROM vllm/vllm-openai:v0.20.0
ENTRYPOINT ["vllm", "serve"]
CMD ["moonshotai/Kimi-K2.6", "{item}", "--trust-remote-code"]
"""


@pytest.mark.parametrize("text", [COMPOSE, DOCKERFILE])
def test_an_option_and_its_value_in_one_item(text: str) -> None:
    (judged,) = ask(text.format(item="--tensor-parallel-size 8"))
    (finding,) = [each for each in judged.findings if "one item of the list" in each.message]
    assert finding.where == "--tensor-parallel-size"
    assert judged.layout is not None
    assert judged.layout.tp == 8


@pytest.mark.parametrize("text", [COMPOSE, DOCKERFILE])
def test_two_items_and_an_equals_sign(text: str) -> None:
    for item in ("--tensor-parallel-size=8", '--tensor-parallel-size", "8'):
        (judged,) = ask(text.format(item=item))
        assert not [each for each in judged.findings if "one item" in each.message]


def test_a_cmd_that_is_no_list() -> None:
    text = "FROM vllm/vllm-openai:v0.20.0\nCMD {words}\n"
    script = read_script(text.format(words="moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --trust-remote-code"))
    assert [problem.code for problem in script.problems] == ["cmd-not-read"]
    (judged,) = ask(script)
    assert not judged.unknown
    assert judged.layout is not None
    assert judged.layout.tp == 8


def test_a_cmd_that_names_its_program_is_told_as_before() -> None:
    script = read_script("FROM vllm/vllm-openai:v0.20.0\nCMD vllm serve moonshotai/Kimi-K2-Thinking -tp 8\n")
    assert not script.problems
