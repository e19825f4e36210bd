"""Single slips of commands in reports: a key of a config with dashes, a value behind a switch of an old release, and a
change that mends two faults of which a report tells one."""

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


def test_a_change_that_mends_two_faults_is_told_for_the_other_one() -> None:
    text = "vllm serve zai-org/GLM-4.7-FP8 -tp 8 --tool-call-parser glm47 --reasoning-parser glm45 "
    notes = found(f"{text}--enable-auto-tool-choice", Code.MENDED_LATER, "0.22.0")
    assert any("without arguments are dropped" in note.message for note in notes)


def test_a_change_is_not_told_twice_of_one_fault() -> None:
    text = "vllm serve openai/gpt-oss-120b -tp 2"
    reports = found(text, Code.KNOWN_REPORT, "0.20.0")
    notes = found(text, Code.MENDED_LATER, "0.20.0")
    noise = [each for each in (*reports, *notes) if "scales behind the last expert" in each.message]
    assert len(noise) <= 1
