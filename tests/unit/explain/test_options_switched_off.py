"""An option that another one needs is lacking where the command itself switches it off."""

from __future__ import annotations

import pytest

from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

BLOCK = "--mamba-block-size"
START = f"vllm serve moonshotai/Kimi-Linear-48B-A3B-Instruct --trust-remote-code {BLOCK} 512"


def told(text: str, version: str = "") -> list[Finding]:
    (judged,) = ask(text, version=version)
    return [finding for finding in judged.findings if finding.where == BLOCK]


@pytest.mark.parametrize("rest", ["", " --no-enable-prefix-caching", ' --no-enable-prefix-caching "$@"'])
def test_it_is_needed(rest: str) -> None:
    (finding,) = told(START + rest, version="0.20.0")
    assert "--enable-prefix-caching" in finding.message
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize("rest", [" --enable-prefix-caching", ' "$@"'])
def test_it_is_there_or_may_be(rest: str) -> None:
    assert told(START + rest, version="0.20.0") == []


def test_what_needs_it_goes_and_it_stays_off() -> None:
    (judged,) = ask(f"{START} --no-enable-prefix-caching", version="0.20.0")
    (line,) = judged.corrected
    assert BLOCK not in line.argv
    assert "--no-enable-prefix-caching" in line.argv
    assert "--enable-prefix-caching" not in line.argv


def test_where_nothing_is_said_it_is_added() -> None:
    (judged,) = ask(START, version="0.20.0")
    (line,) = judged.corrected
    assert BLOCK in line.argv
