"""Scripts that start nothing and print what their reader has to run."""

from __future__ import annotations

import pytest

from moonpad.explain.commands import Command
from moonpad.explain.script import read_script


def known(text: str) -> list[Command]:
    return [command for command in read_script(text).commands if command.program not in ("other", "docker")]


def argv(command: Command) -> str:
    return " ".join(word.text for word in command.argv)


PRINTED = {
    "one line": "echo 'vllm serve org/m --tensor-parallel-size 8'\n",
    "a prompt": 'echo "  $ vllm serve org/m --tensor-parallel-size 8"\n',
    "lines": 'echo "Then:"\necho "  vllm serve org/m \\\\"\necho "    --tensor-parallel-size 8"\necho\n',
    "single quotes": "echo '  vllm serve org/m \\'\necho '    --tensor-parallel-size 8'\n",
    "to stderr": 'echo "vllm serve org/m --tensor-parallel-size 8" >&2\n',
}


@pytest.mark.parametrize("lines", PRINTED.values(), ids=PRINTED.keys())
def test_it_is_read_as_its_reader_would_type_it(lines: str) -> None:
    (command,) = known(f"#!/bin/bash\npip install vllm\n{lines}")
    assert argv(command) == "org/m --tensor-parallel-size 8"


def test_quotes_that_it_prints_stay_one_word() -> None:
    text = '#!/bin/bash\necho "./llama-server -m a.gguf \\\\"\necho "  -ot \\".ffn_.*_exps.=CPU\\" --ctx-size 4096"\n'
    (command,) = known(text)
    assert [word.text for word in command.argv] == ["-m", "a.gguf", "-ot", ".ffn_.*_exps.=CPU", "--ctx-size", "4096"]
    assert (command.argv[2].line, command.argv[3].line) == (3, 3)


@pytest.mark.parametrize(
    "text",
    [
        '#!/bin/bash\necho "Starting vllm serve org/m --port 8000 now"\n',
        '#!/bin/bash\necho "vllm serve is not installed"\nexit 1\n',
        '#!/bin/bash\necho "llama-cli -m a.gguf -p hello"\n',
    ],
    ids=["a message", "a failure", "no server"],
)
def test_messages_are_no_commands(text: str) -> None:
    assert known(text) == []


def test_what_is_started_counts_and_what_is_printed_does_not() -> None:
    (command,) = known(
        'echo "vllm serve org/other --tensor-parallel-size 4"\nvllm serve org/m --tensor-parallel-size 8\n'
    )
    assert argv(command) == "org/m --tensor-parallel-size 8"
