"""A report of a failure without a command: a size that does not share out the heads, and a title with a condition."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

LINE = '(APIServer pid=7)   File "/usr/lib/python3.12/site-packages/vllm/entrypoints/api_server.py", line 9, in run'
LOG = f"```\n{LINE}\n```\n"


def messages(text: str) -> list[str]:
    return [finding.message for judged in ask(text) for finding in judged.findings]


@pytest.mark.parametrize(
    "said", ["with TP=7", "with --tensor-parallel-size 7", "with tensor parallelism of 7", "with TP 7", "with --tp 7"]
)
def test_a_size_that_does_not_share_out_the_heads(said: str) -> None:
    found = messages(f"# DeepSeek-V3.2 {said} failed to start\n\n8xH200\n{LOG}")
    assert any("tensor parallel 7" in each and "128" in each for each in found)


@pytest.mark.parametrize(
    "title",
    [
        "# DeepSeek-V3.2 with TP=8 failed to start",
        "# DeepSeek-V3.2 with TP=8 instead of TP=7 failed to start",
        "# DeepSeek-V3.2 with TP=7.5 failed to start",
        "# DeepSeek-V3.2 with TP7x failed to start",
        "# A model of ours with TP=7 failed to start",
        "# DeepSeek-V3.2 with TP=7",
    ],
)
def test_others(title: str) -> None:
    assert not any("cannot be shared out" in each for each in messages(f"{title}\n\n8xH200\n{LOG}"))


EXECUTOR = "[RANK 1] [E] Failed to initialize executor: Executor creation failed due to insufficient GPU memory."
FENCE = f"\n\n```\n[07/08/2025-19:47:15] {EXECUTOR}\n```\n"


@pytest.mark.parametrize(
    "title",
    [
        "# trtllm-serve crashes for Qwen3-235B-A22B, if enable_block_reuse is false",
        "trtllm-serve crashes for Qwen3-235B-A22B on 8 H200, if enable_block_reuse: false and `--tp 8` is passed",
        "# trtllm-serve crashes\n\nIt starts if i pass --tp 4",
    ],
)
def test_a_title_tells_under_which_condition_it_failed(title: str) -> None:
    assert any("executor does not fit" in each for each in messages(title + FENCE))


@pytest.mark.parametrize(
    "title",
    [
        "# If trtllm-serve crashes",
        "# trtllm-serve crashes often if memory is short",
        "# FAQ\n\nIf trtllm-serve crashes:",
    ],
)
def test_a_guide_to_errors_has_not_had_them(title: str) -> None:
    assert not any("executor does not fit" in each for each in messages(title + FENCE))
