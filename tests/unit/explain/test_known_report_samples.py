"""A command that each of the later reports is about, and one that is close to it and that it is not about."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.known_reports import known_reports
from moonpad.values.finding import Code
from tests.drawn import some
from tests.unit.explain.judging import ask

SAMPLES: dict[str, Any] = {
    key: sample
    for path in sorted(Path(__file__).parent.glob("known_report_samples/*.toml"))
    for key, sample in tomllib.loads(path.read_text(encoding="utf-8")).items()
}


def said(key: str, sample: dict[str, str]) -> bool:
    """Whether the row is among what is reported; its message without the names that are filled in. What stands behind
    `@` or a blank in a key tells further samples of one row apart."""
    message = known_reports()[key.partition("@")[0].partition(" ")[0]].message.replace("{device}", "{model}")
    part = max(message.split("{model}"), key=len)
    judged = ask(sample["text"], sample.get("on", ""), sample.get("version", ""))
    found = [finding for judgement in judged for finding in judgement.findings]
    return any(finding.code in (Code.KNOWN_REPORT, Code.MENDED_LATER) and part in finding.message for finding in found)


@pytest.mark.parametrize("key", SAMPLES)
def test_a_known_report_is_told(key: str) -> None:
    assert said(key, SAMPLES[key]["told"])


@pytest.mark.parametrize("key", some(SAMPLES))
def test_a_known_report_is_not_told_of_others(key: str) -> None:
    assert not said(key, SAMPLES[key]["quiet"])
