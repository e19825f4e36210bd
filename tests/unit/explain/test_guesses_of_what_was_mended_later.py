"""What older releases had wrong is no guess any more where a line of the log names the cause; a known fault stands at
no option that the command does not have, unless it is to be added."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code
from tests.unit.explain.judging import ask

SERVE = "vllm serve /data/models/gpt-oss-120b --tensor-parallel-size 4 --max-model-len 12800"
TEXT = (
    "By the cli it starts, in the sdk the start fails with the installed Triton release.\n\n"
    "```sh\n{}\n```\n\nThe error:\n\n```\n{}\n```\n"
)
SINKS = "TypeError: FlashAttentionImpl.__init__() got an unexpected keyword argument 'sinks'"


def guesses(text: str) -> list[str]:
    return [remark.finding.message for judged in ask(text) for remark in judged.remarks if remark.as_told]


def test_a_cause_that_the_log_names_leaves_no_guesses() -> None:
    known = f"ERROR 08-07 08:09:51 [engine.py:467] {SINKS}"
    assert guesses(TEXT.format(SERVE, known)) == []


def test_without_a_known_cause_they_are_told() -> None:
    unknown = f"ERROR 08-07 08:09:51 [engine.py:467] {SINKS.replace('sinks', 'moons')}"
    assert guesses(TEXT.format(SERVE, unknown))


@pytest.mark.parametrize("version", ["0.27.0"])
def test_a_report_stands_at_nothing_that_the_command_lacks_by_right(version: str) -> None:
    command = "vllm serve deepseek-ai/DeepSeek-V4-Flash --trust-remote-code --tensor-parallel-size 8"
    (judged,) = ask(command, "8xH100", version)
    reports = [each for each in judged.findings if each.code is Code.KNOWN_REPORT]
    assert any("rows of compressed context are packed" in each.message for each in reports)
    assert not any(each.where == "--enforce-eager" and "enforce-eager" not in each.remedy for each in reports)
