"""Intervals that hold what they promise: the truth is inside as often as they say, no false difference oftener."""

from __future__ import annotations

import math
from random import Random
from statistics import fmean
from typing import Any

import pytest

from moonpad.stats.bootstrap import FEWEST, Quantile, Ratio, Statistic, _student, intervals_of, ratios_of

DICE = Random(11)


def sample(count: int, scale: float, dice: Random) -> list[float]:
    """Skewed, as latencies are."""
    return [scale * dice.lognormvariate(0.0, 0.4) for _ in range(count)]


def ratio_of(first: list[float], second: list[float], of: Statistic, **requested: Any) -> Ratio | None:
    return ratios_of(first, second, {"": of}, **requested).get("")


def test_the_truth_is_inside_as_often_as_promised() -> None:
    """200 pairs whose true ratio is 1.25: 95 % of the intervals hold it, give or take what 200 tries can tell."""
    inside = 0
    for trial in range(200):
        dice = Random(f"covers {trial}")
        actual = ratio_of(sample(60, 1.0, dice), sample(60, 1.25, dice), fmean, seed=trial)
        assert actual is not None
        assert actual.low is not None
        assert actual.high is not None
        inside += actual.low <= 1.25 <= actual.high
    assert 180 <= inside <= 200


def test_many_questions_at_once_hold_together() -> None:
    """Five ratios of one table, no difference in truth: in at most 5 % of the tables one is called a difference."""
    alarms = 0
    for trial in range(100):
        dice = Random(f"table {trial}")
        rows = [ratio_of(sample(40, 1.0, dice), sample(40, 1.0, dice), fmean, questions=5) for _ in range(5)]
        alarms += any(row is not None and row.differs for row in rows)
    assert alarms <= 10


def test_of_a_quantile_too() -> None:
    """As above, of a median and a P80: their own standard errors are known the less."""
    alarms = 0
    for trial in range(80):
        dice = Random(f"quantiles {trial}")
        requested = {"median": Quantile(0.5), "p80": Quantile(0.8)}
        rows = [ratios_of(sample(60, 1.0, dice), sample(60, 1.0, dice), requested, questions=4) for _ in range(2)]
        assert all(ratio.differs is not None for row in rows for ratio in row.values())
        alarms += any(ratio.differs for row in rows for ratio in row.values())
    assert alarms <= 9  # 4 are expected


def test_a_quantile_that_no_value_may_be_above_has_no_interval() -> None:
    """0.99 to the power of 368 is 2.5 %: of fewer values the largest may well be below the true P99."""
    assert Quantile(0.99).fewest(0.025) == 368
    for count, valid in ((367, False), (368, True)):
        first, second = sample(count, 1.0, DICE), sample(count, 1.5, DICE)
        actual = ratio_of(first, second, Quantile(0.99))
        assert actual is not None
        assert (actual.differs is not None) is valid


@pytest.mark.parametrize(
    ("share", "freedom", "table"),
    [(0.9975, 5, 4.773), (0.9975, 10, 3.581), (0.9975, 30, 3.030), (0.9975, 100, 2.871), (0.975, 4, 2.776)],
)
def test_students_t_by_a_table(share: float, freedom: float, table: float) -> None:
    assert _student(share, freedom) == pytest.approx(table, rel=0.01)


def test_a_difference_of_a_tenth_is_seen() -> None:
    actual = ratio_of(sample(1000, 1.0, DICE), sample(1000, 1.1, DICE), fmean)
    assert actual is not None
    assert actual.differs
    assert actual.value == pytest.approx(1.1, rel=0.05)


def test_pairs_see_what_the_spread_of_requests_hides() -> None:
    """Requests from 1 to 100 s, each 5 % slower in the second run."""
    first = [math.exp(DICE.uniform(0.0, 4.6)) for _ in range(50)]
    second = [value * DICE.uniform(1.04, 1.06) for value in first]
    alone, paired = ratio_of(first, second, fmean), ratio_of(first, second, fmean, paired=True)
    assert alone is not None
    assert paired is not None
    assert (alone.differs, paired.differs) == (False, True)


def test_the_inverse_is_the_same_question() -> None:
    first, second = sample(40, 1.0, DICE), sample(40, 1.2, DICE)
    ratio, inverse = ratio_of(first, second, fmean, paired=True), ratio_of(second, first, fmean, paired=True)
    assert ratio is not None
    assert inverse is not None
    assert (inverse.value, inverse.low, inverse.high) == pytest.approx((1 / ratio.value, 1 / ratio.high, 1 / ratio.low))


def test_too_little_to_say() -> None:
    few = [1.0] * (FEWEST - 1)
    actual = ratio_of(few, few, fmean)
    assert actual is not None
    assert (actual.value, actual.differs) == (1.0, None)
    assert ratio_of([], [1.0], fmean) is None
    assert ratio_of([0.0] * 9, [1.0] * 9, fmean) is None


def test_the_same_seed_gives_the_same() -> None:
    first, second = sample(40, 1.0, DICE), sample(40, 1.2, DICE)
    assert ratio_of(first, second, fmean, seed=3) == ratio_of(first, second, fmean, seed=3)


def test_the_true_mean_and_median_are_inside_as_often_as_promised() -> None:
    """Of 100 samples of 80; the bootstrap of small skewed samples promises a little more than it holds."""
    truth = {"mean": math.exp(0.4**2 / 2), "p50": 1.0}
    inside = dict.fromkeys(truth, 0)
    for trial in range(100):
        actual = intervals_of(sample(80, 1.0, Random(f"one {trial}")), seed=trial)
        for name, value in truth.items():
            low, high = actual[name]
            inside[name] += low <= value <= high
    assert all(88 <= count <= 100 for count in inside.values()), inside


def test_an_interval_shrinks_with_the_root_of_the_sample() -> None:
    widths = []
    for count in (50, 5000):
        low, high = intervals_of(sample(count, 1.0, Random(3)))["mean"]
        widths.append(high - low)
    assert widths[0] / widths[1] == pytest.approx(10.0, rel=0.4)


def test_too_few_values_have_no_interval() -> None:
    assert intervals_of([1.0] * (FEWEST - 1)) == {}
    for count, names in ((FEWEST, {"mean"}), (36, {"mean", "p50", "p90"}), (368, {"mean", "p50", "p90", "p95", "p99"})):
        assert intervals_of([1.0] * count) == dict.fromkeys(names, (1.0, 1.0))
