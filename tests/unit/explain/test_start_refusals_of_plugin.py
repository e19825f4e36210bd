"""What a plugin for other devices refuses by release: a command that each of its rows is told of, and one close to it
that starts."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from moonpad.catalog.options import versions
from moonpad.catalog.start_refusals import start_refusals
from moonpad.values.finding import Finding, Severity
from tests.unit.explain.judging import ask

SAMPLES: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("start_refusal_samples_plugin.toml").read_text(encoding="utf-8")
)
PLUGIN = "vllm-ascend"


def told(key: str, text: str, version: str) -> list[Finding]:
    part = max(start_refusals()[key].message.replace("{right}", "{left}").split("{left}"), key=len)
    image = f"export IMAGE=quay.io/ascend/vllm-ascend:v{version}\n"
    return [finding for each in ask(image + text) for finding in each.findings if part in finding.message]


@pytest.mark.parametrize("key", SAMPLES)
def test_a_refused_command_is_told(key: str) -> None:
    (found,) = told(key, SAMPLES[key]["told"], SAMPLES[key]["version"])
    assert found.severity is (Severity.WARNING if start_refusals()[key].warns else Severity.ERROR)


@pytest.mark.parametrize("key", SAMPLES)
def test_a_command_that_starts_is_not_told(key: str) -> None:
    assert not told(key, SAMPLES[key]["quiet"], SAMPLES[key]["version"])


@pytest.mark.parametrize("key", SAMPLES)
def test_the_releases_are_recorded_ones(key: str) -> None:
    row = start_refusals()[key]
    assert row.since in versions(PLUGIN)
    assert not row.until or row.until in versions(PLUGIN)
