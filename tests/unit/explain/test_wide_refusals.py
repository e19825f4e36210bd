"""Refusals in the width that their sources bear: other forms of an option, other models, the same source elsewhere."""

from __future__ import annotations

import pytest

from tests.unit.explain.refused import LEVELS, said, samples

SAMPLES = samples("wide_refusal_samples.toml")


@pytest.mark.parametrize("key", SAMPLES)
def test_a_wider_case_is_told(key: str) -> None:
    sample = SAMPLES[key]
    assert said(key.partition(" ")[0], sample["told"], sample["version"], sample["on"]) == [LEVELS[sample["level"]]]


@pytest.mark.parametrize("key", SAMPLES)
def test_what_is_close_to_it_starts(key: str) -> None:
    sample = SAMPLES[key]
    assert not said(key.partition(" ")[0], sample["quiet"], sample["version"], sample["on"])
