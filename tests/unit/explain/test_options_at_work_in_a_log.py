"""An option that no release has, and that a line of the server's log shows at work, is one of the build that ran."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Code, Finding, Severity
from tests.unit.explain.judging import ask

SERVE = (
    "python3 -m sglang.launch_server --model-path moonshotai/Kimi-K2-Instruct --tp 8 --enable-woven-extend --port 30000"
)


def found(text: str) -> list[Finding]:
    return [each for one in ask(text, on="8xH200") for each in one.findings if each.code is Code.UNKNOWN_FLAG]


def test_note_where_the_log_has_it_at_work() -> None:
    (finding,) = found(
        f"```bash\n{SERVE}\n```\n\n```text\nWoven extend enabled on gfx950 (--enable-woven-extend).\n```\n"
    )
    assert finding.severity is Severity.NOTE
    assert "that build has it" in finding.message


@pytest.mark.parametrize(
    "beside",
    [
        "",
        "Woven extend is enabled by (--enable-woven-extend).",
        "It is enabled with `(--enable-woven-extend)`.",
        "unrecognized arguments (--enable-woven-extend)",
    ],
)
def test_warning_elsewhere(beside: str) -> None:
    (finding,) = found(f"```bash\n{SERVE}\n```\n\n{beside}\n")
    assert finding.severity is not Severity.NOTE
