"""A log quoted below several commands, and the layouts and weights that it can be of."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

TP16 = "vllm serve Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 --tensor-parallel-size 16"
TP8 = "vllm serve Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 --tensor-parallel-size 8"
DP8 = "vllm serve Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 --data-parallel-size 8 --enable-expert-parallel"
BF16 = "vllm serve Qwen/Qwen3-Coder-480B-A35B-Instruct --tensor-parallel-size 8"
ERROR = (
    "ValueError: The output_size of gate's and up's weight = 320 is not divisible by weight quantization block_n = 128."
)
TRACE = f"""```
ERROR [multiproc_executor.py:511]   File "/vllm/model_executor/models/qwen3_moe.py", line 278, in __init__
ERROR [multiproc_executor.py:511]   File "/vllm/model_executor/layers/quantization/fp8.py", line 573, in create_weights
ERROR [multiproc_executor.py:511] {ERROR}
```
"""


def stopped(said: str, *commands: str) -> list[bool]:
    """Of each command, whether it is told that its engine stopped by this error."""
    blocks = "\n\n".join(f"One more way:\n\n```bash\n{command}\n```" for command in commands)
    judged = ask(f"{blocks}\n\n{said}\n\n{TRACE}")
    assert len(judged) == len(commands)
    return [any("320 rows" in each.message for each in one.findings) for one in judged]


@pytest.mark.parametrize("size", ["`tensor-parallel-size 8`", "`--tensor-parallel-size=8`", "tp 8", "TP=8"])
def test_the_sentence_in_front_names_the_layout(size: str) -> None:
    assert stopped(f"With {size} it ends so:", DP8, TP8) == [False, True]
    assert stopped(f"With {size} it ends so:", TP16, TP8, DP8) == [False, True, False]


def test_a_log_of_fp8_is_not_of_the_other_weights() -> None:
    assert stopped("It ends so:", BF16, TP8) == [False, True]


def test_of_none_of_them() -> None:
    assert stopped("With tp 8 it ends so:", DP8, BF16) == [False, False]


def test_without_a_layout_or_with_one_command_it_is_told() -> None:
    assert stopped("It ends so:", TP8) == [True]
    assert stopped("With tp 4 it ends so:", TP8) == [True]
    assert stopped("With tp 8 it ends so, take tp 4:", TP16, TP8)[1]
