"""`enable_attention_dp=True` as an argument in Python: each rank has all of the attention, and a cache of its own."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

CALL = 'from tensorrt_llm import LLM\nllm = LLM(model="deepseek-ai/DeepSeek-R1", tensor_parallel_size=8{more})\n'


@pytest.mark.parametrize(
    ("more", "sizes"),
    [("", (8, 1)), (", enable_attention_dp=False", (8, 1)), (", enable_attention_dp=True", (1, 8))],
)
def test_attention_dp_is_part_of_the_layout(more: str, sizes: tuple[int, int]) -> None:
    judged = ask_one(CALL.format(more=more), on="8xB200")
    assert judged.layout is not None
    assert (judged.layout.tp, judged.layout.dp) == sizes
