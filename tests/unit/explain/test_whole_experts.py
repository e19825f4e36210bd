"""Experts that a rank's part of which no kernel takes are kept whole: 1536 / 8 = 192 and 640 / 8 = 80 are no multiples
of 128, and --enable-expert-parallel slices none."""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from moonpad.report.explain_verdict import verdict
from tests.unit.explain.judging import ask_one

SWITCH = "--enable-expert-parallel"
MOE = "ValueError: MoE gate+up weight output_size (80) not divisible by FP8 block_n=128"
BLOCKS = "ERROR 06-26 00:04:52 [core.py:517] RuntimeError: size_k must divisible by BLOCK_SIZE_K"


def _text(command: str, log: str, above: str = "") -> Judged:
    return ask_one(f"{above}\n\n```\n{command}\n```\n\n```\n{log}\n```\n", on="")


@pytest.mark.parametrize(
    ("command", "log", "above"),
    [
        ("vllm serve Qwen/Qwen3.8-Flash-Next-FP8 --tensor-parallel-size 8", MOE, ""),
        ("vllm serve Qwen/Qwen3-235B-A22B-GPTQ-Int4 --tensor-parallel-size 8", BLOCKS, "vllm 0.9.1"),
        ("vllm serve Qwen/Qwen3-235B-A22B-GPTQ-Int4 --enable-reasoning -tp 8", BLOCKS, "vllm 0.9.1"),
    ],
)
def test_the_log_says_so_and_the_corrected_command_keeps_them_whole(command: str, log: str, above: str) -> None:
    judged = _text(command, log, above)
    assert verdict(judged)[0].startswith("Stopped (line 8): a rank's part of an expert")
    (line,) = judged.corrected
    assert line.argv[-1] == SWITCH
    assert "8" in line.argv  # the same devices


def test_another_size_of_the_layout_is_left_to_a_person() -> None:
    dense = "ValueError: Weight output_partition_size = 576 is not divisible by weight quantization block_n = 128."
    assert not _text("vllm serve Qwen/Qwen3-235B-A22B-FP8 --tensor-parallel-size 8", dense).corrected


@pytest.mark.parametrize("complaint", ["Crashes at start:", "TP4 is not supported:", "起不来，报错："])
def test_a_complaint_without_a_log(complaint: str) -> None:
    judged = _text("vllm serve Qwen/Qwen3-30B-A3B-FP8 --tensor-parallel-size 4", "", complaint)
    by = "erhaps by --tensor-parallel-size: an expert of Qwen3-30B-A3B has 768 columns"
    assert verdict(judged)[0].startswith((f"P{by}", f"Failed (line 1), p{by}"))


@pytest.mark.parametrize("sentence", ["Serves well:", "Answers are slow:"])
def test_a_text_that_says_nothing_of_a_failure(sentence: str) -> None:
    judged = _text("vllm serve Qwen/Qwen3-30B-A3B-FP8 --tensor-parallel-size 4", "", sentence)
    assert not verdict(judged)[0].startswith("Perhaps by")
