"""Decode context parallelism against KV heads, and a balancer against the number of experts."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask_one

BALANCED = "vllm serve {} --enable-expert-parallel --enable-eplb {}"


def told(text: str, where: str, version: str = "0.28.0", on: str = "8xH200") -> list[Finding]:
    judged = ask_one(text, on=on, version=version)
    return [each for each in judged.findings if (each.where, each.code) == (where, Code.ILLEGAL_LAYOUT)]


@pytest.mark.parametrize(
    ("text", "part", "remedy"),
    [
        ("Qwen/Qwen3-32B -tp 8 -dcp 2", "8 KV heads of Qwen3-32B lies on 1 of 8 ranks", "leave it out"),
        ("Qwen/Qwen3-235B-A22B -tp 8 -dcp 4", "lies on 2 of 8 ranks", "write -dcp 2"),
        ("Qwen/Qwen3-235B-A22B -tp 4 --decode-context-parallel-size 2", "lies on 1 of 4 ranks", "leave it out"),
    ],
)
def test_more_ranks_than_hold_a_head(text: str, part: str, remedy: str) -> None:
    (finding,) = told(f"vllm serve {text}", "--decode-context-parallel-size")
    assert part in finding.message
    assert finding.remedy == remedy
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Qwen/Qwen3-235B-A22B -tp 8 -dcp 2", "0.28.0"),
        ("Qwen/Qwen3-32B -tp 8 -dcp 1", "0.28.0"),
        ("Qwen/Qwen3-32B -tp 8 -dcp 2", "0.11.0"),
        ("Qwen/Qwen3-32B -tp $TP -dcp 2", "0.28.0"),
        ("me/something-of-mine -tp 8 -dcp 2", "0.28.0"),
        ("zai-org/GLM-5-FP8 -tp 8 -dcp 8", "0.27.1"),
    ],
)
def test_ranks_that_hold_a_head_or_are_not_known(text: str, version: str) -> None:
    assert not told(f"vllm serve {text}", "--decode-context-parallel-size", version)


def test_without_a_release_it_is_a_warning() -> None:
    (finding,) = told("vllm serve Qwen/Qwen3-32B -tp 8 -dcp 2", "--decode-context-parallel-size", "")
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("model", "more", "part", "remedy"),
    [
        (
            "Qwen/Qwen3-235B-A22B -tp 8",
            """--eplb-config '{"num_redundant_experts":7}'""",
            "and 7 redundant ones",
            "to 0",
        ),
        ("zai-org/GLM-4.6-FP8 -tp 2 -dp 3", "", "160 experts are not", "to 2"),
    ],
)
def test_experts_that_are_not_shared_out_evenly(model: str, more: str, part: str, remedy: str) -> None:
    (finding,) = told(BALANCED.format(model, more), "--enable-eplb")
    assert part in finding.message
    assert remedy in finding.remedy
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("Qwen/Qwen3-235B-A22B -tp 8", ""),
        ("Qwen/Qwen3-235B-A22B -tp 8", """--eplb-config '{"num_redundant_experts":8}'"""),
        ("zai-org/GLM-4.6-FP8 -tp 2 -dp 3", "--eplb-config $CONFIG"),
        ("me/something-of-mine -tp 8", """--eplb-config '{"num_redundant_experts":7}'"""),
    ],
)
def test_experts_that_are_or_are_not_known(model: str, more: str) -> None:
    assert not told(BALANCED.format(model, more), "--enable-eplb")
