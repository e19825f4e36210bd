"""The first line, where the release that is judged refuses the command and the text names none."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import first_line

K2 = "vllm serve moonshotai/Kimi-K2-Instruct-0905 --trust-remote-code"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{K2} -tp 16 --swap-space 16", "--swap-space"),
        (f"{K2} -tp 16 --swap-space 16 --enable-reasoning --reasoning-parser kimi_k2", "--enable-reasoning"),
        (f"On 16x H200, two nodes of 8x H200.\n\n{K2} -tp 16 --max-num-seqs 1", "--distributed-executor-backend"),
        ("vllm serve Qwen/Qwen3-235B-A22B -tp 8 --swap-space 16", "--swap-space"),
    ],
)
def test_it_is_named(text: str, told: str) -> None:
    line = first_line(f"{text}\n")
    assert line.startswith("Does not start with vllm ")
    assert f": {told}: " in line
    assert "--engine-version" not in line


@pytest.mark.parametrize(
    "text",
    [
        f"vllm 0.11.0\n\n{K2} -tp 16 --swap-space 16",
        f"{K2} -tp 16",
        f"On 8x H200.\n\n{K2} -tp 8 --max-num-seqs 1",
        f"{K2} -tp 16 --disable-log-stats",
        f"{K2} -tp 16 --swap-space 16\n\nIt reached 577.7 tokens/s on 16x H200.",
    ],
)
def test_else_it_starts(text: str) -> None:
    assert not first_line(f"{text}\n").startswith("Does not start")
