"""The 16 heads of Kimi-K2.5's vision tower: 32 ranks of tensor parallelism cannot share them out.

Oracle: `divide(num_heads, tp_size)` in the encoders of both engines, read in their wheels.
"""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask

NODES = "--nnodes 4 --node-rank 0"
SGLANG = f"python -m sglang.launch_server --model moonshotai/Kimi-K2.5 {NODES} --dist-init-addr 10.0.0.1:50000"
VLLM = f"vllm serve moonshotai/Kimi-K2.5 {NODES} --master-addr 10.0.0.1 --tensor-parallel-size 32"
HEADS = "16 heads of the vision tower"


def judged(command: str, version: str) -> Judged:
    (only,) = ask(f"{command} --trust-remote-code", "4x8xH200", version)
    return only


def remedies(judgement: Judged) -> list[str]:
    return [finding.remedy for finding in judgement.findings if HEADS in finding.message]


@pytest.mark.parametrize("version", ["0.5.9", "0.5.15", "0.5.23"])
def test_sglang_cannot_start_on_32_ranks(version: str) -> None:
    assert len(remedies(judged(f"{SGLANG} --tp 32", version))) == 1


def test_the_corrected_command_keeps_the_ranks_and_gives_each_the_whole_tower() -> None:
    corrected = [line.argv for line in judged(f"{SGLANG} --tp 32", "0.5.23").corrected]
    assert [("--mm-enable-dp-encoder" in argv, argv[argv.index("--tp-size") + 1]) for argv in corrected] == [
        (True, "32")
    ]


def test_a_release_whose_whole_tower_hangs_is_not_told_to_use_it() -> None:
    before = judged(f"{SGLANG} --tp 32", "0.5.9")
    assert remedies(before)[0].startswith("use data-parallel attention in groups of 16 ranks")
    assert "0.5.16" in remedies(before)[0]
    assert not before.corrected


@pytest.mark.parametrize(
    "more",
    [
        "--tp 16",
        "--tp 32 --dp-size 2 --enable-dp-attention",
        "--tp 32 --mm-enable-dp-encoder",
    ],
)
def test_what_shares_them_out_or_keeps_them_whole_starts(more: str) -> None:
    assert not remedies(judged(f"{SGLANG} {more}", "0.5.23"))


def test_vllm_gives_each_rank_the_whole_tower_since_0_26() -> None:
    asked = f"{VLLM} --mm-encoder-tp-mode data"
    assert [len(remedies(judged(VLLM, version))) for version in ("0.19.0", "0.25.1", "0.26.0")] == [1, 1, 0]
    assert not remedies(judged(asked, "0.25.1"))


def test_its_corrected_command_asks_for_that() -> None:
    (line,) = judged(VLLM, "0.25.1").corrected
    assert line.argv[-2:] == ("--mm-encoder-tp-mode", "data")
