"""Single slips of commands in reports: a key of a config with dashes, and a value behind a switch of an old release."""

from __future__ import annotations

from moonpad.values.finding import Code, Finding
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
