"""Paths of Windows in the code of a sentence and in blocks, whose backslashes only a shell of Unix would take out."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask

FILE = "UD-Q4_K_XL\\Kimi-K2-Thinking-UD-Q4_K_XL-00001-of-00014.gguf"
MODEL = "Kimi-K2-Thinking-UD-Q4_K_XL"


def checkpoints(text: str) -> list[str]:
    return [judged.checkpoint.name if judged.checkpoint else "" for judged in ask(text)]


@pytest.mark.parametrize("program", ["llama-server.exe", "llama-server", "C:\\llama\\llama-server.exe"])
@pytest.mark.parametrize("folder", ["D:\\models\\", "d:\\gguf\\models\\", "E:\\"])
@pytest.mark.parametrize(
    "around", ["4) launched with this:\n\n`{}`\n\nIt works.\n", "It is:\n\n```\n{}\n```\n", "{}\n"]
)
def test_the_model_is_that_of_the_file(program: str, folder: str, around: str) -> None:
    command = f"{program} -m {folder}{FILE} --ctx-size 131072 -ngl 99"
    assert checkpoints(around.format(command)) == [MODEL]


@pytest.mark.parametrize("quote", ["'", '"'])
def test_in_quotes_too(quote: str) -> None:
    assert checkpoints(f"We run `llama-server.exe -m {quote}D:\\models\\{FILE}{quote} -ngl 99` here.\n") == [MODEL]


def test_other_backslashes_stay_the_shells() -> None:
    (command,) = read_script("It is `llama-server -m /models/a\\ b.gguf --alias x:\\y -ngl 99` here.\n").commands
    assert [word.text for word in command.argv] == ["-m", "/models/a b.gguf", "--alias", "x:y", "-ngl", "99"]


def test_in_quotes_that_stand_twice() -> None:
    command = f'.\\llama\\llama-server.exe -m ""C:\\Users\\me\\.cache\\{FILE}"" --ctx-size 32000 -ngl 99'
    assert checkpoints(f"{command}\n") == [MODEL]


@pytest.mark.parametrize("drive", ["d", "D"])
def test_behind_a_prompt_of_either_case(drive: str) -> None:
    command = f"{drive}:\\llamacpp>llama-server.exe -m D:\\models\\{FILE} --ctx-size 262144 -ngl 16"
    assert checkpoints(f"```shell\n{command}\n```\n") == [MODEL]


def test_an_empty_argument_in_a_shell_of_unix_stays() -> None:
    (command,) = read_script('llama-server -m /m/a.gguf --alias "" --host 0.0.0.0\n').commands
    assert [word.text for word in command.argv][3] == ""
