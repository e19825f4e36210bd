"""A fault that spoils requests of one kind alone is a warning; the option that it is about stays in the corrected
command, which is mended otherwise."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask_one

ASYNC = "vllm serve Qwen/Qwen3-235B-A22B -tp 8 --async-scheduling"


def test_an_option_of_speed_stays() -> None:
    judged = ask_one(ASYNC, version="0.10.2")
    (told,) = [each for each in judged.findings if "apply penalties" in each.message]
    assert told.remedy.startswith("take 0.11.1 or later")
    assert not judged.corrected or "--async-scheduling" in judged.corrected[0].argv


def test_it_stays_beside_what_is_mended() -> None:
    judged = ask_one(f"{ASYNC} --tensor-parallel-siz 8", version="0.10.2")
    assert all("--async-scheduling" in line.argv for line in judged.corrected)


@pytest.mark.parametrize("stages", [2, 4])
def test_what_refuses_the_start_takes_it_out(stages: int) -> None:
    judged = ask_one(f"{ASYNC} -pp {stages}", on="4x8xH200", version="0.10.2")
    assert any("refuse it with pipeline parallelism" in each.message for each in judged.findings)
    assert all("--async-scheduling" not in line.argv for line in judged.corrected)
