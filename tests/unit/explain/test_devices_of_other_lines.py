"""An error about devices that the text only names, and neither counts nor names right above the command, is none where
it names others on which it does not hold: which of them the command is for is a guess."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Severity
from tests.unit.explain.judging import ask

TIGHT = (
    "```bash\nvllm serve moonshotai/Kimi-K2.5 --tensor-parallel-size 8 --trust-remote-code --max-model-len 131072 "
    "--gpu-memory-utilization 0.9\n```\n"
)
STEPS = "".join(f"Step {number} takes a minute.\n\n" for number in range(1, 6))
LATER = "\n## Outlook\n\nH200 will come.\n"


def short(text: str) -> list[tuple[Severity, str]]:
    (judged,) = ask(text)
    findings = (each for each in judged.findings if each.code is Code.DOES_NOT_FIT)
    return [(each.severity, each.message) for each in findings if each.severity is not Severity.NOTE]


def test_another_kind_of_another_line_may_be_meant() -> None:
    ((severity, message),) = short(f"Our cluster has H100 GPUs.\n\n{STEPS}{TIGHT}{LATER}")
    assert severity is Severity.WARNING
    assert "on 8xH200, which the text names as well, it fits" in message


@pytest.mark.parametrize(
    ("about", "behind"),
    [
        (f"Our cluster has 8x H100 GPUs.\n\n{STEPS}", LATER),  # counted
        (f"Our cluster has H100 GPUs.\n\n{STEPS}## On H100\n\n", LATER),  # named right above
        (f"Our cluster has H100 GPUs.\n\n{STEPS}", ""),  # no other is named
        (f"Our cluster has H100 GPUs.\n\n{STEPS}", "\n## Outlook\n\nA100 is no way out.\n"),  # that does not hold it
    ],
)
def test_what_is_stated_or_named_alone_is_meant(about: str, behind: str) -> None:
    assert [severity for severity, _ in short(f"{about}{TIGHT}{behind}")] == [Severity.ERROR]
