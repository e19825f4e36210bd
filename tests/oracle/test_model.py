"""The whole pass on the shipped checkpoint, in each form of attention. transformers and the real vLLM are asked in
tests/e2e/test_oracle.py."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.oracle.attention import attend_over
from tests.oracle.model import Model, bfloat16
from tests.oracle.weights import Array

CHECKPOINT = ROOT / "src" / "moonpad" / "catalog" / "kimi-k2-tiny"
TOKENS: list[int] = np.random.default_rng(0).integers(12, 1000, 80).tolist()


@pytest.fixture(scope="module")
def logits() -> Array:
    return Model.of(CHECKPOINT).logits(TOKENS)


@pytest.mark.parametrize("absorbed", [False, True])
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_decode_context_parallel_changes_nothing(ranks: int, absorbed: bool, logits: Array) -> None:
    parallel = Model.of(CHECKPOINT, absorbed=absorbed, attend=attend_over(ranks)).logits(TOKENS)
    assert np.abs(parallel - logits).max() <= 1e-10 * np.abs(logits).max()


def test_later_tokens_change_nothing_before_them(logits: Array) -> None:
    assert np.allclose(Model.of(CHECKPOINT).logits(TOKENS[:50]), logits[:50], rtol=1e-9, atol=1e-9)


def test_logprobs_are_of_one_distribution(logits: Array) -> None:
    logprobs = Model.of(CHECKPOINT).logprobs(TOKENS[:20])
    assert np.allclose(np.exp(logprobs).sum(axis=-1), 1.0)
    assert (logprobs.argmax(axis=-1) == logits[:20].argmax(axis=-1)).all()


def test_bfloat16_keeps_eight_bits_and_rounds_to_even() -> None:
    # 1 + 2⁻⁷ is the first after 1; the middle between two goes to the even one.
    given = np.array([1.0, 1 + 2**-7, 1 + 2**-8, 1 + 3 * 2**-8, -(1 + 2**-8 + 2**-12), 0.0, 3e38])
    kept = [1.0, 1 + 2**-7, 1.0, 1 + 2**-6, -(1 + 2**-7), 0.0, pytest.approx(3e38, rel=4e-3)]
    assert bfloat16(given).tolist() == kept
