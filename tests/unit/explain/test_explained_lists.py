"""A list that explains the options of a command in the same text is not a start of its own."""

from __future__ import annotations

import pytest

from moonpad.explain.script import read_script

LIST = """# Serving on two machines

The manifests start the engine with:
- `--tensor-parallel-size 8`{mark} the model is split over the devices of a machine
- `--pipeline-parallel-size {stages}`{mark} one stage a machine
- `--distributed-executor-backend ray`{mark} Ray reaches the other machine

## Start

```bash
vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8 --pipeline-parallel-size 2 --trust-remote-code
```
"""


@pytest.mark.parametrize(
    ("stages", "mark", "starts"),
    [
        ("2", ":", 1),
        ("2", " \u2014", 1),
        # Another value is another start.
        ("4", ":", 2),
        # Options alone, without a word of what they are for, may be what the manifests have besides.
        ("2", "", 2),
    ],
)
def test_list_that_explains_a_command_below(stages: str, mark: str, starts: int) -> None:
    written = LIST.format(stages=stages, mark=mark)
    bare = [f"{line.rpartition('`')[0]}`" if line.startswith("- `") else line for line in written.split("\n")]
    text = written if mark else "\n".join(bare)
    assert len(read_script(text).commands) == starts


def test_list_with_more_than_the_command_has_stays() -> None:
    text = """The service has:
- `--tensor-parallel-size 8`: all devices
- `--max-model-len 65536`: enough for us
- `--kv-cache-dtype fp8`: half the memory

```bash
vllm serve moonshotai/Kimi-K2-Thinking --tensor-parallel-size 8
```
"""
    assert len(read_script(text).commands) == 2
