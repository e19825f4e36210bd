"""A command that is the value of a row in a table of names and values is read without the name of its row."""

from __future__ import annotations

import pytest

from moonpad.explain.documents.record_rows import commands_of_rows
from moonpad.explain.script import read_script
from tests.unit.explain.judging import ask_one

RECORD = """# Baseline of the sweep

```
weights    moonshotai/Kimi-K2-Thinking      from the hub
machine    8x H200, one node
start      vllm serve moonshotai/Kimi-K2-Thinking --trust-remote-code
             --tensor-parallel-size 8 --max-num-seqs 128
             --tool-call-parser kimi_k2 --enable-auto-tool-choice --reasoning-parser kimi_k2
           env NCCL_DEBUG=INFO          deploy/node.yaml
load       2k prompt, 256 output tokens
```
"""


def test_the_name_of_a_row_is_not_a_program_and_deeper_lines_go_on() -> None:
    script = read_script(RECORD)
    (command,) = script.commands
    assert command.words[0].text == "vllm"
    assert "NCCL_DEBUG" in command.env
    assert not script.problems
    layout = ask_one(RECORD).layout
    assert layout is not None
    assert layout.tp == 8


@pytest.mark.parametrize(
    "text",
    [
        # A wrapper of a cluster, in a script: no table.
        "export A=1\nlaunch  vllm serve m --tensor-parallel-size 8\n  --max-num-seqs 8\necho done",
        # Aligned comments are not values.
        "cd /work          # folder\nvllm serve m      # server\nsleep 5           # wait\ncurl x            # ask",
        # Its values do not begin in one column.
        "model  kimi\nengine      vllm\ntopology   8x\nlaunch     vllm serve m --tp 8",
    ],
)
def test_other_texts_are_left_as_they_are(text: str) -> None:
    assert commands_of_rows(text.split("\n")) == []
