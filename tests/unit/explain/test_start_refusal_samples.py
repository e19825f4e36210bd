"""A command that each of the later rows of start_refusals.toml refuses, and one that is close to it and that starts."""

from __future__ import annotations

import pytest

from tests.drawn import some
from tests.unit.explain.refused import LEVELS, said, samples

FILES = (
    "start_refusal_samples.toml",
    "start_refusal_samples_vllm.toml",
    "start_refusal_samples_repairs.toml",
    "start_refusal_samples_plain.toml",
    "start_refusal_samples_threads.toml",
    "start_refusal_samples_pools.toml",
    "start_refusal_samples_sources.toml",
)
SAMPLES = {key: sample for name in FILES for key, sample in samples(name).items()}


def is_told(key: str, text: str, sample: dict[str, str]) -> bool:
    return bool({*said(key, text, sample.get("version", ""), sample.get("on", "8xH200"))} & {*LEVELS.values()})


@pytest.mark.parametrize("key", SAMPLES)
def test_a_refused_command_is_told(key: str) -> None:
    assert is_told(key, SAMPLES[key]["told"], SAMPLES[key])


@pytest.mark.parametrize("key", some(SAMPLES))
def test_a_command_that_starts_is_not_told(key: str) -> None:
    assert not is_told(key, SAMPLES[key]["quiet"], SAMPLES[key])
