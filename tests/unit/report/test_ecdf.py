"""A cumulative distribution, against counting."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.report.ecdf_chart import ecdf, thinned

values_of = st.lists(st.integers(0, 50).map(float), min_size=1, max_size=60)


@given(values_of)
def test_each_value_has_the_share_of_all_that_are_at_most_it(values: list[float]) -> None:
    counts = Counter(values)
    actual = ecdf([(value, counts[value]) for value in sorted(counts)])
    assert [value for value, _ in actual] == sorted(set(values))
    for value, share in actual:
        assert share == pytest.approx(sum(other <= value for other in values) / len(values))
    assert actual[-1][1] == 1.0


@given(values_of, st.floats(0, 20))
def test_a_thinned_curve_is_nowhere_further_away_than_its_width(values: list[float], width: float) -> None:
    points = [(value, place / len(values)) for place, value in enumerate(sorted(values), 1)]
    saved = thinned(points, width)
    assert saved[-1] == points[-1]
    assert set(saved) <= set(points)
    for x, y in points:
        near = [point for point in saved if point[1] >= y]  # the first kept point that is as high
        assert near[0][0] - x <= width


def test_what_is_far_apart_stays() -> None:
    assert thinned([(0.0, 0.2), (1.0, 0.5), (1.4, 0.6), (3.0, 1.0)], 1.0) == [(0.0, 0.2), (1.4, 0.6), (3.0, 1.0)]
