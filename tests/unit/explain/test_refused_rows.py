"""Rows whose samples say how severe they are: each with a command that is told, and one close to it that starts."""

from __future__ import annotations

import pytest

from moonpad.catalog.start_refusals import start_refusals
from tests.unit.explain.refused import LEVELS, said, samples

FILES = (
    "kernel_refusal_samples.toml",
    "sglang_refusal_samples.toml",
    "sglang_refusal_samples_threads.toml",
    "sglang_refusal_samples_sources.toml",
)
SAMPLES = {key: sample for name in FILES for key, sample in samples(name).items()}


@pytest.mark.parametrize("key", SAMPLES)
def test_a_refused_command_is_told(key: str) -> None:
    sample = SAMPLES[key]
    assert said(key, sample["told"], sample["version"], sample["on"]) == [LEVELS[sample["level"]]]


@pytest.mark.parametrize("key", SAMPLES)
def test_a_command_that_starts_is_not_told(key: str) -> None:
    sample = SAMPLES[key]
    assert not said(key, sample["quiet"], sample["version"], sample["on"])


@pytest.mark.parametrize("key", [key for key in SAMPLES if start_refusals()[key].devices])
def test_without_devices_nothing_is_said_of_them(key: str) -> None:
    assert not said(key, SAMPLES[key]["told"], SAMPLES[key]["version"])
