"""Paths of which only the last part is known, and sizes that a person says beside the command."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question

from .judging import ask

SERVE = "python3 -m sglang.launch_server --model-path {model} --trust-remote-code"


@pytest.mark.parametrize(
    ("model", "folder"),
    [
        ("$ROOT/models/Hunyuan-A13B-Instruct", "Hunyuan-A13B-Instruct"),
        ('"$(pwd)/models/Hunyuan-A13B-Instruct"', "Hunyuan-A13B-Instruct"),
        ("$ROOT/models", ""),
        ("$ROOT/$NAME", ""),
        ("/models/Hunyuan-A13B-Instruct", ""),
    ],
)
def test_the_folder_is_named(model: str, folder: str) -> None:
    (judged,) = ask(f"{SERVE.format(model=model)} --tp 1\n")
    assert judged.model_folder == folder
    assert not folder or folder in judged.unjudged


def test_what_is_said_beside_the_command_is_not_given_twice() -> None:
    script = read_script(f"{SERVE.format(model='moonshotai/Kimi-K2.5')} --tp $(nvidia-smi -L | wc -l)\n")
    (judged,) = judge(script, Question(settings={"tp": "8"}))
    assert judged.layout_words == "TP8"
    assert not any("given twice" in each.message for each in judged.findings)
    (twice,) = ask(f"{SERVE.format(model='moonshotai/Kimi-K2.5')} --tp 4 --tp 8\n")
    assert any("given twice" in each.message for each in twice.findings)
