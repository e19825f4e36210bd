"""How many requests run at once: of a measurement, of ranks that share attention; positions that are there."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import found

SERVER = "```bash\nvllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code{}\n```\n\n"
BENCH = "```bash\nvllm bench serve --model moonshotai/Kimi-K2.5 --num-prompts 500 --max-concurrency {}\n```\n"
RANKS = "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2.5 --tp 8 {} --max-running-requests {}\n"
DP = "--dp 8 --enable-dp-attention"
QWEN = (
    'vllm serve Qwen/Qwen3-{} -tp 8 --hf-overrides \'{{"rope_scaling": {{"rope_type": "yarn", "factor": 4.0, {}}}}}\'\n'
)
ORIGINAL = '"original_max_position_embeddings": {}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SERVER.format(" --max-num-seqs 16") + BENCH.format(256), "240 wait in its queue"),
        (SERVER.format("") + BENCH.format(1) + "\nIt is slow: 90 tok/s.\n", "one request at a time"),
        (RANKS.format(DP, 8), "1 for each"),
        (QWEN.format("235B-A22B-Instruct-2507", ORIGINAL.format(32768)), "positions of its own"),
    ],
)
def test_sizes_that_are_too_small(text: str, words: str) -> None:
    assert found(text, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SERVER.format(" --max-num-seqs 256") + BENCH.format(256), "wait in its queue"),
        (SERVER.format("") + BENCH.format(256), "wait in its queue"),
        (SERVER.format("") + BENCH.format(1), "one request at a time"),
        (RANKS.format(DP, 512), "for each"),
        (RANKS.format("", 8), "for each"),
        (QWEN.format("235B-A22B-Instruct-2507", ORIGINAL.format(262144)), "positions of its own"),
        (QWEN.format("32B", ORIGINAL.format(32768)), "positions of its own"),
    ],
)
def test_sizes_that_fit(text: str, words: str) -> None:
    assert not found(text, words)
