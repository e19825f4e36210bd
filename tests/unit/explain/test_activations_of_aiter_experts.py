"""AITER's variable for FP8 activations of Kimi-K3's experts, by release.

vLLM reads it itself in 0.27, has VLLM_ROCM_USE_AITER_MOE_SITUV2_A8W4 in its place from 0.28.0 to 0.30.0, where the
former alone gives garbage (vllm-project/vllm#52442), and VLLM_ROCM_USE_AITER_MOE_SITUV2 since 0.31.0, which sets and
clears it (_sync_aiter_situv2_moe_env of the wheels 0.31.0 and 0.32.0).
"""

from __future__ import annotations

import pytest

from moonpad.explain.results import Judged
from tests.unit.explain.judging import ask_one

FORMER, BY_VLLM, CHOSEN = "AITER_SITUV2_A8W4", "VLLM_ROCM_USE_AITER_MOE_SITUV2_A8W4", "VLLM_ROCM_USE_AITER_MOE_SITUV2"
SERVE = "vllm serve moonshotai/Kimi-K3 --tensor-parallel-size 8 --trust-remote-code"


def _judged(variables: str, version: str) -> Judged:
    return ask_one(f"export VLLM_ROCM_USE_AITER=1 {variables}\n{SERVE}\n", on="8xMI355X", version=version)


def _garbage(judged: Judged) -> list[str]:
    return [each.severity for each in judged.findings if "silent garbage" in each.message]


@pytest.mark.parametrize("version", ["0.28.0", "0.30.0"])
def test_the_former_name_alone(version: str) -> None:
    assert _garbage(_judged(f"{FORMER}=1", version)) == ["warning"]
    assert not _garbage(_judged(f"{FORMER}=1 {BY_VLLM}=1", version))


@pytest.mark.parametrize("version", ["0.27.1", "0.31.0", "0.33.0"])
def test_releases_that_read_it_or_set_it_themselves(version: str) -> None:
    assert not _garbage(_judged(f"{FORMER}=1", version))


def test_without_a_release_nothing_is_asked_for_that_the_newest_does_not_read() -> None:
    judged = _judged(f"{FORMER}=1", "")
    assert set(_garbage(judged)) <= {"note"}
    assert all(BY_VLLM not in line.env for line in judged.corrected)
    (told,) = [each for each in judged.findings if "takes this one away" in each.message]
    assert f"{CHOSEN}=a8w4" in told.remedy


@pytest.mark.parametrize("version", ["", "0.33.0"])
def test_both_names_are_kept(version: str) -> None:
    judged = _judged(f"{FORMER}=1 {BY_VLLM}=1", version)
    assert all({FORMER, BY_VLLM} <= {*line.env} for line in judged.corrected)


def test_the_name_of_today_is_right() -> None:
    judged = _judged(f"{CHOSEN}=a8w4", "0.33.0")
    assert not [each for each in judged.findings if "SITUV2" in each.where or "SITUV2" in each.message]
