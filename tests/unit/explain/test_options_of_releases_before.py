"""An option that releases before the first recorded one had is no slip for another one."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

START = "docker run --gpus all vllm/vllm-openai:{tag} --model Qwen/Qwen3-8B --port 8333 {option}\n"


def told(tag: str, option: str) -> list[Finding]:
    name = option.partition(" ")[0].partition("=")[0]
    return [each for one in ask(START.format(tag=tag, option=option)) for each in one.findings if each.where == name]


@pytest.mark.parametrize(
    "option",
    [
        "--tokenizer-pool-size 16",
        "--tokenizer-pool-type=ray",
        "--use-v2-block-manager",
        "--preemption-mode recompute",
        "--worker-use-ray",
    ],
)
def test_what_older_releases_had(option: str) -> None:
    for finding in told("v0.8.2", option):
        assert finding.severity is Severity.NOTE
        assert "did you mean" not in (finding.remedy or "")


def test_it_is_said_that_newer_ones_have_it_no_more() -> None:
    (finding,) = told("v0.8.2", "--tokenizer-pool-size 16")
    assert "an option of older releases" in finding.message
    assert "leave it out" in (finding.remedy or "")


def test_a_release_that_is_recorded_refuses_it() -> None:
    (finding,) = told("v0.11.0", "--tokenizer-pool-size 16")
    assert finding.severity is Severity.ERROR
    assert "without a pool" in (finding.remedy or "")


def test_a_slip_is_still_one() -> None:
    (finding,) = told("v0.8.2", "--tensor-paralel-size 2")
    assert "--tensor-parallel-size" in f"{finding.message} {finding.remedy}"
