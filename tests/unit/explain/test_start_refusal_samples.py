"""A command that each of the later rows of start_refusals.toml refuses, and one that is close to it and that starts."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.start_refusals import start_refusals
from moonpad.values.finding import Severity
from tests.unit.explain.judging import ask

FILES = ("start_refusal_samples.toml", "start_refusal_samples_vllm.toml")
SAMPLES: dict[str, Any] = {
    key: sample
    for name in FILES
    for key, sample in tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8")).items()
}


def said(key: str, text: str, sample: dict[str, str]) -> bool:
    part = max(start_refusals()[key].message.replace("{right}", "{left}").split("{left}"), key=len)
    judged = ask(text, sample.get("on", "8xH200"), sample["version"])
    found = [finding for judgement in judged for finding in judgement.findings]
    return any(finding.severity in (Severity.ERROR, Severity.WARNING) and part in finding.message for finding in found)


@pytest.mark.parametrize("key", SAMPLES)
def test_a_refused_command_is_told(key: str) -> None:
    assert said(key, SAMPLES[key]["told"], SAMPLES[key])


@pytest.mark.parametrize("key", SAMPLES)
def test_a_command_that_starts_is_not_told(key: str) -> None:
    assert not said(key, SAMPLES[key]["quiet"], SAMPLES[key])
