"""What the predictions say of the guides' claims."""

from __future__ import annotations

import pytest

from moonpad.predict import Lengths, Workload, predict
from tests.unit.predict.served import served


@pytest.mark.parametrize("users", [1, 8, 32])
def test_int4_is_not_twice_as_fast_as_fp8_on_the_same_layout(users: int) -> None:
    """Seed 3. The experts are read in half the time; but attention is BF16 in the INT4 checkpoint, and what each layer
    costs beside its bytes is the same. It is half the devices that INT4 needs."""
    load = Workload(Lengths.fixed(1024), Lengths.fixed(512), concurrency=users)
    fp8, int4 = (
        predict(served(model, "2x8xH200", version="0.19.0", tp=8, pp=2), load, by_others=False).tpot_s.value
        for model in ("moonshotai/Kimi-K2-Instruct-0905", "moonshotai/Kimi-K2-Thinking")
    )
    assert 0.75 < int4 / fp8 < 1.33
