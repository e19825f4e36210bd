"""Single slips of commands in reports: a key of a config with dashes, and a value behind a switch of an old release."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask


def found(text: str, code: Code, version: str = "") -> list[Finding]:
    return [finding for judged in ask(text, "8xH200", version) for finding in judged.findings if finding.code is code]


def test_a_key_of_the_config_has_underscores() -> None:
    text = 'vllm serve Qwen/Qwen3-32B-FP8 --hf-overrides \'{"rope-scaling": {"factor": 4.0, "rope_type": "yarn"}}\''
    (slip,) = (each for each in found(text, Code.INVALID_VALUE, "0.11.2") if "rope-scaling" in each.message)
    assert slip.remedy == "write rope_scaling"


def test_a_value_behind_a_switch_is_left_over_in_old_releases_too() -> None:
    text = "vllm serve Qwen/Qwen3-30B-A3B --tensor-parallel-size 2 --enforce_eager true"
    assert any("is left over" in each.message for each in found(text, Code.INVALID_VALUE, "0.9.2"))


def test_what_is_no_expert_is_there_on_each_data_parallel_rank() -> None:
    text = "vllm serve Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 -dp 8 --enable-expert-parallel"
    (small,) = (
        each for judged in ask(text, "8xH20-141G", "0.10.1") for each in judged.findings if "262,144" in each.message
    )
    assert small.code is Code.DOES_NOT_FIT
    assert not found(f"{text} --max-model-len 131072", Code.DOES_NOT_FIT, "0.10.1")


@pytest.mark.parametrize(
    ("text", "version", "severity"),
    [
        ("vllm serve Qwen/Qwen3-30B-A3B --tensor-parallel-size 2 --enforce_eager true", "0.9.2", Severity.ERROR),
        ("vllm serve Qwen/Qwen3-30B-A3B --trust-remote-code True --tensor-parallel-size 2", "0.9.0", Severity.ERROR),
        ("# Notes\n\nvllm==0.11.0\n\nvllm serve Qwen/Qwen3-30B-A3B --enforce-eager false", "", Severity.ERROR),
        ("vllm serve Qwen/Qwen3-30B-A3B --enable-chunked-prefill true", "0.8.4", Severity.WARNING),
        ("# Notes\n\nvllm==0.11.0\n\nvllm serve Qwen/Qwen3-30B-A3B --enforce-eager on one card", "", Severity.WARNING),
    ],
)
def test_a_truth_behind_a_switch_is_an_error_where_the_release_surely_refuses_it(
    text: str, version: str, severity: Severity
) -> None:
    """vLLM makes all switches by argparse.BooleanOptionalAction from 0.9.0 on, which takes no value."""
    left = [each for judged in ask(text, "8xH200", version) for each in judged.findings if "left over" in each.message]
    assert [each.severity for each in left] == [severity] or (not left and severity is Severity.WARNING)
