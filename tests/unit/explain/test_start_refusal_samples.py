"""A command that each of the later rows of start_refusals.toml refuses, and one that is close to it and that starts."""

from __future__ import annotations

import pytest

from tests.drawn import some
from tests.unit.explain.refused import LEVELS, said, samples

FILES = (
    "start_refusal_samples.toml",
    "start_refusal_samples_vllm.toml",
    "start_refusal_samples_repairs_7.toml",
    "start_refusal_samples_repairs_14.toml",
    "start_refusal_samples_plain.toml",
    "start_refusal_samples_mine_17.toml",
    "start_refusal_samples_wide_21.toml",
    "start_refusal_samples_mine_20.toml",
    "start_refusal_samples_mine_19.toml",
    "start_refusal_samples_mine_24.toml",
    "start_refusal_samples_mine_23.toml",
    "start_refusal_samples_threads_41.toml",
    "start_refusal_samples_threads_50.toml",
    "start_refusal_samples_plugin_50.toml",
    "start_refusal_samples_histories_50.toml",
    "start_refusal_samples_pools_50.toml",
    "start_refusal_samples_sources_50.toml",
    "start_refusal_samples_draw_50.toml",
    "start_refusal_samples_threads_51v.toml",
    "start_refusal_samples_52w52c.toml",
    "start_refusal_samples_52w52g.toml",
    "start_refusal_samples_classes_52.toml",
    "start_refusal_samples_56w56s.toml",
    "start_refusal_samples_60w60u.toml",
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
