"""What is to be filled in, and a post has broken over two lines."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

START = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp-size 16 --nnodes 2"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{my\n pod ip}", "<my_pod_ip>"),
        ("{your head \nnode}", "<your_head_node>"),
    ],
)
def test_it_is_one_word_and_the_options_behind_it_stay(value: str, expected: str) -> None:
    (command,) = read_script(f"{START} --dist-init-addr {value} --host 0.0.0.0 --port 8000\n").commands
    assert [word.text for word in command.argv[-6:]] == [
        "--dist-init-addr",
        expected,
        "--host",
        "0.0.0.0",
        "--port",
        "8000",
    ]


def test_a_list_of_commands_in_braces_is_none() -> None:
    text = f"run() {{\n  {START} --node-rank 0\n}}\nrun\n"
    (command,) = read_script(text).commands[:1]
    assert command.argv[-1].text == "0"
