"""Tasks of srun that all serve, folders that another option reads, and slots longer than a known model's positions."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

JOB = "#!/bin/bash\n#SBATCH -N 2\n{}\n\nsrun --mpi=pmix {}{} moonshotai/Kimi-K2-Instruct --tp_size 16\n"
SERVE = "trtllm-serve"
LAUNCH = "trtllm-llmapi-launch trtllm-serve"


def told(text: str, words: str) -> bool:
    return any(words in each.message for one in ask(text) for each in one.findings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (JOB.format("#SBATCH --ntasks 16", "", SERVE), True),
        (JOB.format("#SBATCH -n 16", "", SERVE), True),
        (JOB.format("", "-n 16 ", SERVE), True),
        (JOB.format("#SBATCH --ntasks 16", "", LAUNCH), False),
        (JOB.format("#SBATCH --ntasks 16", "-n 1 ", SERVE), False),
        (JOB.format("", "", SERVE), False),
    ],
)
def test_tasks_that_all_serve(text: str, *, expected: bool) -> None:
    assert told(text, "starts a server of its own") == expected


DOWNLOAD = 'hf download unsloth/DeepSeek-V3.1-GGUF --include "Q4_K_M/*" --local-dir /data/dsv31-gguf\n'
KT = "python -m sglang.launch_server --model /data/DeepSeek-V3.1 --kt-method LLAMAFILE --kt-cpuinfer 60 {}\n"


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("--kt-weight-path /data/dsv31-gguf/Q4_K_M", False),
        ("--kt-weight-path=/data/dsv31-gguf", False),
        ("--kt-weight-path /data/others", True),
    ],
)
def test_a_folder_that_another_option_reads(weights: str, *, expected: bool) -> None:
    assert told(DOWNLOAD + KT.format(weights), "is served, and the weights are downloaded") == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [("-c 65536", True), ("-c 65536 -np 8", False), ("-c 8192", False), ("-c 65536 --rope-scaling yarn", False)],
)
def test_a_slot_longer_than_the_positions(options: str, *, expected: bool) -> None:
    assert told(f"llama-server -m Moonlight-16B-A3B-Instruct.Q8_0.gguf -ngl 99 {options}\n", "positions") == expected
