"""How likely it is that what is estimated has room: against the normal distribution of the standard library."""

from __future__ import annotations

from statistics import NormalDist

import pytest

from moonpad.values.estimate import Estimate
from moonpad.values.memory import RANGE, _probability


@pytest.mark.parametrize("spare", [-7.0, -2.0, -0.5, 0.0, 0.25, 1.0, 4.0, 9.0])
def test_each_half_of_the_range_is_half_of_a_normal_distribution(spare: float) -> None:
    estimate = Estimate(10.0, 7.0, 12.0, "of a test")
    wide = 2.0 if spare >= 0 else 3.0
    expected = NormalDist(0, wide / NormalDist().inv_cdf(0.5 + RANGE / 2)).cdf(spare)
    assert _probability(spare, estimate) == pytest.approx(expected, abs=1e-12)
