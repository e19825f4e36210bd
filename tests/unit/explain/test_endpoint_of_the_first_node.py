"""Options of the endpoint that only the branch of the first node sets: the layout is known all the same."""

from __future__ import annotations

import subprocess

import pytest

from moonpad.report.shell_line import quoted

from .judging import ask

SCRIPT = """\
if [ -z "$HEAD" ]; then
  RANK=0
  SERVER_ARGS="{first}"
else
  RANK=1
  SERVER_ARGS="{others}"
fi
python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 16 --nnodes 2 \\
  --dist-init-addr "$HEAD:20000" --node-rank $RANK $SERVER_ARGS
"""


def test_host_and_port_leave_the_layout_known() -> None:
    (judged,) = ask(SCRIPT.format(first="--host 0.0.0.0 --port 8000", others=""))
    assert not judged.unknown
    assert judged.layout_words == "TP16"
    assert judged.corrected
    assert "${SERVER_ARGS:+--host 0.0.0.0 --port 8000}" in judged.corrected[0].argv


@pytest.mark.parametrize(("value", "words"), [("yes", ["--host", "0.0.0.0", "--port", "8000"]), ("", [])])
def test_the_shell_splits_them_into_words(value: str, words: list[str]) -> None:
    (judged,) = ask(SCRIPT.format(first="--host 0.0.0.0 --port 8000", others=""))
    (line,) = judged.corrected
    word = next(word for word in line.argv if "SERVER_ARGS" in word)
    command = ["bash", "-c", f"printf '%s\\n' begin {quoted(word, line.unresolved)}"]
    printed = subprocess.run(command, env={"SERVER_ARGS": value}, capture_output=True, text=True, check=True)
    assert printed.stdout.split() == ["begin", *words]


def test_other_options_leave_it_open() -> None:
    (judged,) = ask(SCRIPT.format(first="--host 0.0.0.0 --dp-size 2", others=""))
    assert judged.unknown
    assert not judged.corrected
