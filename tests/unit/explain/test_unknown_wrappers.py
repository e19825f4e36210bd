"""Shells behind unknown wrappers, PowerShell's lists of arguments, doubled braces, lists that begin with a program."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

GRAPHS = '--compilation-config \'{\\"cudagraph_mode\\":\\"FULL_DECODE_ONLY\\"}\''
RECIPE = """\
model: org/model
defaults:
  port: 8000
  steps: 3
command: |
  vllm serve org/model --port {port} --speculative-config '{{"method":"mtp","num_speculative_tokens":{steps}CLOSED'
"""


def errors(text: str) -> list[str]:
    return [f.message for judged in ask(text) for f in judged.findings if f.severity is Severity.ERROR]


@pytest.mark.parametrize("wrapper", ["$W/in_container.sh", "./wrap.sh --quiet"])
def test_shell_behind_unknown_wrapper(wrapper: str) -> None:
    text = f'W=/w\n{wrapper} bash -lc "export A=1\nexec vllm serve org/model --port 8130 \\\n  {GRAPHS}" > log 2>&1 &\n'
    (command,) = (
        command for command in read_script(text).commands if command.prefix[-1:] and command.prefix[-1].text == "serve"
    )
    assert command.argv[-1].text == '{"cudagraph_mode":"FULL_DECODE_ONLY"}'
    assert errors(text) == []


def test_wrong_value_behind_unknown_wrapper() -> None:
    assert errors('./wrap.sh bash -c "vllm serve org/model --port eight"')


@pytest.mark.parametrize(("end", "wrong"), [("}}", False), ("", True)])
def test_doubled_braces_beside_a_field(end: str, *, wrong: bool) -> None:
    assert bool(errors(RECIPE.replace("CLOSED", end))) == wrong


POWERSHELL = """\
$model = 'C:\\models\\x.gguf'
$p = Start-Process -PassThru "$build\\llama-server.exe" -ArgumentList `
    '--model', $model, '--port', '8083', `
    '--ctx-size', "8192", '--jinja'
"""


def test_list_of_arguments() -> None:
    (command,) = (command for command in read_script(POWERSHELL).commands if command.program == "llama-server")
    assert [word.text for word in command.argv[2:]] == ["--port", "8083", "--ctx-size", "8192", "--jinja"]
    assert errors(POWERSHELL) == []


def test_wrong_option_in_list_of_arguments() -> None:
    told = [f.message for judged in ask(POWERSHELL.replace("--jinja", "--jinga")) for f in judged.findings]
    assert any("--jinga" in message for message in told)


@pytest.mark.parametrize(("added", "expected"), [("nsys profile --trace=cuda", False), ("--no-such-option", True)])
def test_list_that_begins_with_a_program(added: str, *, expected: bool) -> None:
    text = f'A=()\nif [ "$N" = 1 ]; then\n  A=({added})\nfi\n"${{A[@]}}" vllm serve org/model --port 8000 "${{A[@]}}"\n'
    told = [f.message for judged in ask(text) for f in judged.findings]
    assert any("with A of line 3" in message for message in told) == expected
