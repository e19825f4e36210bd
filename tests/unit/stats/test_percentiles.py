"""Against the standard library's own implementation of the same definitions."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.stats.percentiles import describe, percentile

VALUES = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=200)


@given(VALUES)
def test_percentiles_are_the_inclusive_quantiles(values: list[float]) -> None:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    ordered = sorted(values)
    for p in (1, 10, 50, 90, 95, 99):
        assert percentile(ordered, p) == pytest.approx(cuts[p - 1], rel=1e-9, abs=1e-6)


@given(VALUES)
def test_mean_median_and_population_spread(values: list[float]) -> None:
    actual = describe(values)
    assert actual is not None
    assert actual.mean == pytest.approx(statistics.fmean(values), rel=1e-9, abs=1e-6)
    assert actual.median == pytest.approx(statistics.median(values), rel=1e-9, abs=1e-6)
    assert actual.std == pytest.approx(statistics.pstdev(values), rel=1e-6, abs=1e-3)


@pytest.mark.parametrize(
    ("p", "numpy_says"),
    [(0, 1.0), (25, 2.0), (50, 4.5), (75, 7.75), (90, 13.0), (99, 19.3), (99.9, 19.93), (100, 20.0)],
)
def test_numpy_percentile(p: float, numpy_says: float) -> None:
    """np.percentile([7, 1, 10, 3, 20, 2, 6, 2], p), recorded."""
    assert percentile(sorted([7, 1, 10, 3, 20, 2, 6, 2]), p) == pytest.approx(numpy_says)


def test_one_value_is_all_its_percentiles() -> None:
    actual = describe([0.25])
    assert actual is not None
    assert (actual.count, actual.mean, actual.median, actual.std, actual.percentile(99.0)) == (1, 0.25, 0.25, 0.0, 0.25)


def test_no_values_have_no_distribution() -> None:
    assert describe([]) is None
