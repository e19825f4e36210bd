"""A command behind export is not started."""

from __future__ import annotations

import pytest

from tests.unit.explain.judging import ask

SERVE = "vllm serve moonshotai/Kimi-K2.5 -tp 8 --trust-remote-code"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'docker exec c bash -c "export A=1 && export B=2 {SERVE}"', True),
        (f"export A=1 \\\n  {SERVE}", True),
        (f"export A=1 && {SERVE}", False),
        (f"export A=1; {SERVE}", False),
        (f"export A=1\n{SERVE}", False),
        (f"A=1 {SERVE}", False),
        (f"# export A=1 {SERVE}\n{SERVE}", False),
        (f"export A=1 # {SERVE}\n{SERVE}", False),
    ],
)
def test_words_behind_export(text: str, expected: bool) -> None:
    findings = [finding for one in ask(text, "", "") for finding in one.findings]
    assert any("all words behind it as names" in finding.message for finding in findings) is expected
