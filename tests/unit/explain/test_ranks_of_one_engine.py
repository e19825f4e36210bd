"""What all ranks of one engine have to share, and how many of them a job starts."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask


def told(text: str, words: str) -> list[str]:
    return [each.message for one in ask(text) for each in one.findings if words in each.message]


def nodes(first: str, second: str) -> str:
    start = (
        "python3 -m sglang.launch_server --model-path zai-org/GLM-4.6 --tp 16 --nnodes 2 --dist-init-addr 10.0.0.1:5000"
    )
    return f"{start} --node-rank 0 {first}\n{start} --node-rank 1 {second}\n"


@pytest.mark.parametrize(
    ("first", "second", "differ"),
    [
        ("--chunked-prefill-size 8192", "--chunked-prefill-size 4096", True),
        ("--max-running-requests 64", "", True),
        ("--disable-radix-cache", "", True),
        ("--chunked-prefill-size 8192", "--chunked-prefill-size 8192", False),
        ("--log-level debug", "", False),
    ],
)
def test_what_decides_on_the_next_batch_is_the_same_on_all_nodes(first: str, second: str, differ: bool) -> None:
    assert bool(told(nodes(first, second), "all ranks of one engine must agree")) is differ


def job(header: str, tp: int, step: str = "--mpi=pmix") -> str:
    return f"""#!/bin/bash
{header}
srun {step} trtllm-llmapi-launch trtllm-serve /m/DeepSeek-R1 --backend pytorch --tp_size {tp} --host 127.0.0.1
"""


TWO = "#SBATCH -N 2\n#SBATCH --ntasks-per-node 4\n"


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        (job(TWO, 16), True),
        (job(f"{TWO}#SBATCH --ntasks 8\n", 16), True),
        (job(TWO, 8), False),
        (job("#SBATCH -N 2\n#SBATCH --gres=gpu:8\n", 16), False),
        (job(TWO, 16, "--mpi=pmix -N 2 --ntasks-per-node 8"), False),
        (job(TWO, 4, "--mpi=pmix --nodelist a"), False),
    ],
)
def test_tasks_of_the_header_are_the_ranks(text: str, is_wrong: bool) -> None:
    assert bool(told(text, "each of which is a rank")) is is_wrong
