"""Objects of JSON with something that a person has to fill in: what is still wrong when that is done."""

from __future__ import annotations

import pytest

from moonpad.explain.judge import judge
from moonpad.explain.results import Judged
from moonpad.explain.script import read_script
from moonpad.explain.target_detection import Question
from moonpad.values.finding import Finding, Severity

SERVE = "vllm serve moonshotai/Kimi-K2-Thinking -tp 8 --trust-remote-code"
TEXTS = "stands without quotes"
AT_ALL = "even with a value for"


def only(text: str) -> Judged:
    (judged,) = judge(read_script(text), Question())
    return judged


def about(value: str) -> list[Finding]:
    findings = only(f"{SERVE} --speculative-config '{value}'").findings
    return [finding for finding in findings if TEXTS in finding.message or AT_ALL in finding.message]


@pytest.mark.parametrize(
    ("value", "words", "severity"),
    [
        ('{"model": <draft>, "num_speculative_tokens": 3}', "<draft> stands without quotes", Severity.WARNING),
        ('{"method": "eagle3", "model": { draft_path }}', "{ draft_path } stands without quotes", Severity.WARNING),
        ('{"method": "mtp", "num_speculative_tokens": {tokens},}', "a value for {tokens}", Severity.ERROR),
        ('{"method": "mtp", "num_speculative_tokens": <N>,\n}', "a value for <N>", Severity.ERROR),
    ],
)
def test_it_is_no_json_when_it_is_filled_in(value: str, words: str, severity: Severity) -> None:
    (finding,) = about(value)
    assert (finding.where, finding.severity) == ("--speculative-config", severity)
    assert words in finding.message


def test_the_quotes_of_python() -> None:
    findings = only(f"""{SERVE} --speculative-config "{{'method': 'mtp', 'num_speculative_tokens': <N>}}" """).findings
    assert [finding.severity for finding in findings if "not JSON" in finding.message] == [Severity.ERROR]


@pytest.mark.parametrize(
    "value",
    [
        '{"model": "<draft>", "num_speculative_tokens": 3}',
        '{"method": "mtp", "num_speculative_tokens": <N>}',
        '{"method": "mtp", "num_speculative_tokens": {tokens}}',
        '{"method": "mtp", "num_speculative_tokens": 3}',
        '{"method": "mtp", "num_speculative_tokens": $N}',
        '{"method": "mtp", "draft_config": {"a": 1}}',
        '{"model": "a, <b>, c", "num_speculative_tokens": 3}',
    ],
)
def test_nothing_else_is_wrong(value: str) -> None:
    assert about(value) == []


def test_the_place_stays_a_place_in_the_corrected_command() -> None:
    judged = only(f"""{SERVE} --additional-config '{{"eplb_config": {{"num_redundant_experts": {{ranks}},}}}}'""")
    (line,) = judged.corrected
    assert '{"eplb_config": {"num_redundant_experts": "<ranks>"}}' in line.argv
