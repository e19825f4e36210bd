"""What a release does not take and a later one does: the remedy names that one."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask_one

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"


def found(judged: Judged, where: str) -> Finding:
    return next(each for each in judged.findings if each.where == where and each.severity is Severity.ERROR)


@pytest.mark.parametrize(
    ("version", "more", "where", "remedy"),
    [
        ("0.11.0", "--nnodes 2", "--nnodes", "take vLLM 0.11.1 or later, which has it"),
        ("0.11.0", "--reasoning-parser kimi_k2", "--reasoning-parser", "take vLLM 0.11.1 or later, which takes it"),
        # It was taken out again: no later release is the answer.
        ("0.20.0", "--num-lookahead-slots 2", "--num-lookahead-slots", "leave it out"),
        # No release has it.
        ("0.11.0", "--tensor-paralel-sise 2", "--tensor-paralel-sise", "did you mean --tensor-parallel-size?"),
    ],
)
def test_the_remedy(version: str, more: str, where: str, remedy: str) -> None:
    assert found(ask_one(f"{SERVE} {more}", version=version), where).remedy.startswith(remedy)


JOB = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
srun --ntasks=2 python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp-size 16 --nnodes 2 \\
  --dist-init-addr node1:5000 --node-rank $SLURM_PROCID --trust-remote-code
"""


def test_a_rank_that_the_batch_shell_fills_in_leaves_nothing_to_correct() -> None:
    judged = ask_one(JOB, on="2x8xH200")
    assert found(judged, "--node-rank").code is Code.INVALID_VALUE
    assert not judged.corrected
    without_job = ask_one(JOB.replace("#SBATCH", "# SBATCH"), on="2x8xH200")
    assert not any(each.severity is Severity.ERROR for each in without_job.findings)


def test_too_little_outside_of_the_fraction_is_mended_by_a_smaller_one() -> None:
    text = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Thinking --tp-size 8 --trust-remote-code"
    judged = ask_one(f"{text} --mem-fraction-static 0.96 --chunked-prefill-size 16384", version="0.5.10")
    tight = next(each for each in judged.findings if each.code is Code.TIGHT)
    fraction = tight.remedy.split()[2]
    assert tight.remedy == f"set --mem-fraction-static {fraction} or less"
    mended = ask_one(f"{text} --mem-fraction-static {fraction} --chunked-prefill-size 16384", version="0.5.10").memory
    assert mended is not None
    assert not mended.tight
    assert all(better.memory is not None and not better.memory.tight for better in judged.better)


def test_weights_beyond_the_whole_device_are_an_error_whichever_fraction_is_chosen() -> None:
    text = "python -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp-size 8 --trust-remote-code"
    assert found(ask_one(text, on="8xH100", version="0.5.10"), "--mem-fraction-static").code is Code.DOES_NOT_FIT
