"""Arrivals by hand, by their distribution, and the same of the same seed."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.load.arrivals import Arrivals, Kind, offered_rate, replayed
from moonpad.values.errors import UsageError


def gaps(arrivals: Arrivals, count: int = 20_001, seed: int = 3) -> list[float]:
    return [later - earlier for earlier, later in pairwise(arrivals.instants_s(count, seed))]


def variation(values: list[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)) / mean


def test_constant() -> None:
    assert Arrivals(4.0, "constant").instants_s(4, 0) == (0.0, 0.25, 0.5, 0.75)


def test_all_at_once() -> None:
    assert Arrivals(math.inf).instants_s(3, 0) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("arrivals", "expected"),
    [(Arrivals(10.0), 1.0), (Arrivals(10.0, "gamma", 0.25), 2.0), (Arrivals(10.0, "gamma", 4.0), 0.5)],
)
def test_the_gaps_have_the_mean_and_the_spread_of_their_distribution(arrivals: Arrivals, expected: float) -> None:
    """A gamma distribution of shape k varies by 1/sqrt(k) of its mean; 20,000 gaps know both within some percent."""
    drawn = gaps(arrivals)
    assert math.fsum(drawn) / len(drawn) == pytest.approx(0.1, rel=0.05)
    assert variation(drawn) == pytest.approx(expected, rel=0.05)


@given(
    st.floats(0.01, 1e6), st.sampled_from(["constant", "poisson", "gamma"]), st.integers(0, 2**32), st.integers(1, 50)
)
def test_the_same_seed_gives_the_same_instants(rate: float, kind: Kind, seed: int, count: int) -> None:
    arrivals = Arrivals(rate, kind)
    instants = arrivals.instants_s(count, seed)
    assert instants == arrivals.instants_s(count, seed)
    assert len(instants) == count
    assert instants[0] == 0.0
    assert list(instants) == sorted(instants)
    assert instants == arrivals.instants_s(count + 5, seed)[:count]


def test_another_seed_gives_others() -> None:
    assert Arrivals(10.0).instants_s(5, 1) != Arrivals(10.0).instants_s(5, 2)


@pytest.mark.parametrize(
    ("rate", "kind", "burstiness"),
    [
        (0.0, "poisson", 1.0),
        (-1.0, "poisson", 1.0),
        (math.nan, "poisson", 1.0),
        (1.0, "gamma", 0.0),
        (1.0, "gamma", math.inf),
        (1.0, "poisson", 0.5),
        (1.0, "constant", 2.0),
    ],
)
def test_what_is_no_rate(rate: float, kind: Kind, burstiness: float) -> None:
    with pytest.raises(UsageError):
        Arrivals(rate, kind, burstiness)


def test_a_trace() -> None:
    assert replayed([12.0, 10.0, 14.0]) == (0.0, 2.0, 4.0)
    assert replayed([12.0, 10.0, 14.0], speed=4.0) == (0.0, 0.5, 1.0)
    assert replayed([]) == ()
    for times, speed in (([1.0, math.nan], 1.0), ([1.0], 0.0), ([1.0], math.inf)):
        with pytest.raises(UsageError):
            replayed(times, speed)


def test_the_rate_that_was_offered() -> None:
    assert offered_rate((0.0, 0.5, 1.0)) == 2.0
    assert offered_rate((0.0, 0.0)) is None
    assert offered_rate(()) is None
