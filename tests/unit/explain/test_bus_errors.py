"""A bus error in a text that speaks of /dev/shm is that of a full /dev/shm, solved by its author or not."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask, first_line

SERVE = "```bash\ntrtllm-serve nvidia/Kimi-K2-Thinking-NVFP4 --tp_size 8 --trust_remote_code\n```\n\n"
SIGNAL = " 1: [node36:452151:0:452151] Caught signal 7 (Bus error: nonexistent physical address)"
SEGFAULT = SIGNAL.replace("signal 7 (Bus error", "signal 11 (Segmentation fault")
SOLVED = "This can be addressed by mounting `tmpfs:/dev/shm:size=640G` when launching the container.\n"
INTRO = "It is possible to see issues such as the following:\n\n"


def told(text: str) -> list[Finding]:
    return [each for one in ask(text) for each in one.findings if "/dev/shm" in each.where + each.message]


def test_what_the_author_has_solved_is_named_with_its_cure() -> None:
    text = f"{SERVE}## Troubleshooting\n\n{INTRO}```log\n{SIGNAL}\n```\n{SOLVED}"
    (finding,) = told(text)
    assert finding.severity is Severity.NOTE
    assert "shm-size 640G" in finding.remedy
    assert not first_line(text).startswith(("Stopped", "Failed"))


def test_what_nobody_has_solved_is_why_it_stopped() -> None:
    text = f"{SERVE}It stops:\n\n```log\n{SIGNAL}\n```\n"
    (finding,) = told(text)
    assert finding.severity is Severity.WARNING
    assert first_line(text).startswith("Stopped")


@pytest.mark.parametrize(
    "text",
    [
        SERVE,
        f"{SERVE}{SOLVED}",
        f"{SERVE}{INTRO}```log\n{SEGFAULT}\n```\n{SOLVED}",
    ],
)
def test_no_bus_error(text: str) -> None:
    assert [each for each in told(text) if "bus error" in each.message.casefold()] == []
