"""A subcommand that is nearly one of an engine's."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

OPTIONS = "/models/GLM-4.5-Air --tensor-parallel-size 4"


@pytest.mark.parametrize("word", ["server", "service", "serves"])
@pytest.mark.parametrize("start", ["vllm", "$ vllm", "/opt/venv/bin/vllm"])
def test_what_was_meant_is_read_and_the_slip_is_told(start: str, word: str) -> None:
    script = read_script(f"# on four cards\n{start} {word} {OPTIONS}\n")
    (command,) = script.commands
    assert command.program == "vllm serve"
    assert [each.text for each in command.argv] == OPTIONS.split()
    (problem,) = script.problems
    assert problem.code == "no-such-command"
    assert word in problem.message
    assert problem.remedy == "write vllm serve"


@pytest.mark.parametrize(
    "text",
    [
        f"vllm serve {OPTIONS}\n",
        f"sglang serve --model-path {OPTIONS}\n",
        "vllm chat --url http://localhost:8000/v1\n",
        "vllm collect-env\n",
        f"# vllm server {OPTIONS}\nvllm serve {OPTIONS}\n",
        "vllm server is up\n",
        f"echo starting the vllm server\nvllm serve {OPTIONS}\n",
    ],
)
def test_other_words_are_left_alone(text: str) -> None:
    assert "no-such-command" not in [problem.code for problem in read_script(text).problems]
