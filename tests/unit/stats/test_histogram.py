"""The oracle is numpy, on the values themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.stats.histogram import Tally

rows = st.lists(st.lists(st.floats(0.0, 1000.0), min_size=1, max_size=20), min_size=1, max_size=20)


@given(rows)
def test_it_says_what_numpy_says(values: list[list[float]]) -> None:
    tally = Tally()
    for row in values:
        tally.add(row)
    actual = tally.describe()
    flat = np.array([value for row in values for value in row])
    assert actual is not None
    assert actual.count == len(flat)
    assert actual.mean == pytest.approx(flat.mean(), abs=1e-9)
    assert actual.std == pytest.approx(flat.std(), abs=1e-4)
    for p, value in actual.percentiles:
        assert value == pytest.approx(np.percentile(flat, p), abs=1.1e-6)


@given(st.lists(st.integers(0, 5_000_000), min_size=1, max_size=50))
def test_whole_microseconds_are_exact(microseconds: list[int]) -> None:
    tally = Tally()
    tally.add([value_us / 1e6 for value_us in microseconds])
    actual = tally.describe((0.0, 100.0))
    assert actual is not None
    assert dict(actual.percentiles) == {0.0: min(microseconds) / 1e6, 100.0: max(microseconds) / 1e6}


def test_nothing_has_no_distribution() -> None:
    assert Tally().describe() is None


def test_memory_is_that_of_the_distinct_values() -> None:
    """Ten minutes of a thousand streams have millions of gaps: a counter each would be gigabytes."""
    tally = Tally()
    for number in range(2000):
        tally.add([0.04 + number % 7 / 1e6] * 100)
    assert len(tally._counts) == 7
    actual = tally.describe()
    assert actual is not None
    assert actual.count == 200_000
