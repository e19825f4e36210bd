"""What a guide reckons with beside a command that it cuts short, and lists of examples: no options of a start."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

CUT = """```bash
{}
vllm serve Qwen/Qwen3.5-397B-A17B-FP8 \\
  --tensor-parallel-size 4 \\
  --trust-remote-code \\
  ...
```
"""
EXAMPLES = """```bash
vllm serve moonshotai/Kimi-K2.6 --tensor-parallel-size 8
```

Which of these spread the experts:

```bash
{}
```
"""


def _copies(comment: str) -> int:
    (judged,) = ask(CUT.format(comment), on="4x4xH200")
    assert judged.layout is not None
    return judged.layout.dp


@pytest.mark.parametrize(
    "comment",
    [
        "# Note: active, since TP_SIZE × DP_SIZE = 4×1 = 4 > 1",
        "# TP_SIZE * DP_SIZE = 4*1 = 4",
        "# tp x dp = 4 ranks of experts",
        "# experts over TP*DP: 4",
    ],
)
def test_the_result_of_a_sum_is_no_size(comment: str) -> None:
    assert _copies(comment) == 1


@pytest.mark.parametrize("comment", ["# TP=4, DP=2", "# TP_SIZE=4 x DP_SIZE=2", "# TP 4 × DP 2", "# dp_size = 2"])
def test_a_size_that_is_told_is_one(comment: str) -> None:
    assert _copies(comment) == 2


def test_examples_that_differ_are_no_start() -> None:
    examples = (
        "--tensor-parallel-size 1 --enable-expert-parallel  # no",
        "--tensor-parallel-size 4 --enable-expert-parallel  # yes",
        "--tensor-parallel-size 2 --data-parallel-size 2 --enable-expert-parallel  # yes",
    )
    assert len(ask(EXAMPLES.format("\n".join(examples)))) == 1


def test_options_a_line_each_are_one() -> None:
    options = ("--tensor-parallel-size 4 --data-parallel-size 2", "--enable-expert-parallel", "--max-model-len 32768")
    assert len(ask(EXAMPLES.format("\n".join(options)))) == 2
