"""A tensor parallel size that cannot be is told once, and first: 18432 / 32 = 576 and 2048 / 32 = 64 are no multiples
of the 128 columns that one scale of DeepSeek-R1's FP8 weights is for."""

from __future__ import annotations

import pytest

from moonpad.report.explain_verdict import verdict
from moonpad.values.finding import Code
from tests.unit.explain.judging import ask_one

RANKS = "\n".join(
    "python -m sglang.launch_server --model-path {} --tp 32 --dist-init-addr 10.0.0.1:5000 --nnodes 4 "
    f"--node-rank {rank} --trust-remote-code"
    for rank in range(4)
)
WITHIN = 18432 // 32


@pytest.mark.parametrize("model", ["DeepSeek-R1", "/data/models/DeepSeek-R1"])
def test_a_folder_of_the_models_name_will_likely_fail(model: str) -> None:
    judged = ask_one(RANKS.replace("{}", model), on="4x8xH100")
    assert verdict(judged)[0].startswith(
        f"Will likely fail: --tp-size: tensor parallel 32: each rank would hold {WITHIN}"
    )
    assert not judged.corrected
    assert not judged.better


def test_a_folder_of_another_name_may_hold_other_weights() -> None:
    judged = ask_one(RANKS.replace("{}", "/data/models/DeepSeek-R1-mine"), on="4x8xH100")
    assert not verdict(judged)[0].startswith("Will likely fail")


def test_one_option_is_told_once_and_no_better_size_beside_it() -> None:
    judged = ask_one(RANKS.replace("{}", "/data/models/DeepSeek-R1"), on="4x8xH100")
    of_tp = [each for each in judged.findings if each.where == "--tp-size"]
    assert len({each.remedy for each in of_tp if each.code is Code.ILLEGAL_LAYOUT}) == len(of_tp)
    assert not [each for each in of_tp if each.code is Code.SUBOPTIMAL]


def test_a_size_that_can_be_keeps_its_advice() -> None:
    two = "\n".join(RANKS.replace("--tp 32", "--tp 16").replace("--nnodes 4", "--nnodes 2").splitlines()[:2])
    judged = ask_one(two.replace("{}", "DeepSeek-R1"), on="2x8xH100")
    assert [each for each in judged.findings if (each.where, each.code) == ("--tp-size", Code.SUBOPTIMAL)]
