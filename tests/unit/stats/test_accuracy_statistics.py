"""Shares, pairs and detectable differences, against statsmodels, scipy and published figures.

`statistics_of_others.json` was written by tests/oracle/record_statistics.py in an environment of its own.
"""

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moonpad.stats.paired import Pairs, detectable_paired, exact_mcnemar, paired, tango
from moonpad.stats.proportion import Proportion, detectable_unpaired, unpaired

OTHERS = json.loads((Path(__file__).parent / "statistics_of_others.json").read_text())
DRAWS = 20_000
counts = st.integers(0, 2000)


@pytest.mark.parametrize(("correct", "count", "low", "high"), OTHERS["wilson"])
def test_wilson(correct: int, count: int, low: float, high: float) -> None:
    assert Proportion(correct, count).interval() == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize(("only_first", "only_second", "p_value"), OTHERS["mcnemar"])
def test_mcnemar(only_first: int, only_second: int, p_value: float) -> None:
    assert exact_mcnemar(only_first, only_second) == pytest.approx(p_value, rel=1e-9)


@pytest.mark.parametrize("row", OTHERS["paired"], ids=str)
def test_interval_of_pairs(row: list[float]) -> None:
    """The oracle's own search ends at about 1e-7."""
    *table, low, high = row
    assert tango(Pairs(*map(int, table))) == pytest.approx((low, high), abs=1e-7)


@pytest.mark.parametrize(("k1", "n1", "k2", "n2", "low", "high"), OTHERS["unpaired"])
def test_interval_of_two_samples(k1: int, n1: int, k2: int, n2: int, low: float, high: float) -> None:
    difference = unpaired(Proportion(k1, n1), Proportion(k2, n2))
    assert (difference.low, difference.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize(("k1", "n1", "k2", "n2", "z", "p_value"), OTHERS["pooled"])
def test_two_samples(k1: int, n1: int, k2: int, n2: int, z: float, p_value: float) -> None:
    difference = unpaired(Proportion(k1, n1), Proportion(k2, n2))
    assert (difference.z, difference.p_value) == pytest.approx((z, p_value), rel=1e-9)


@pytest.mark.parametrize("count", [1, 2, 60, 1319])
def test_pairs_of_which_none_changed(count: int) -> None:
    """By hand: with no change the score is √n δ / √(δ (1 − δ)), which is z at δ = z² / (n + z²)."""
    reach = 1.9599639845400543**2 / (count + 1.9599639845400543**2)
    for pairs in (Pairs(count, 0, 0, 0), Pairs(0, 0, 0, count)):
        difference = paired(pairs)
        assert (difference.low, difference.high) == pytest.approx((-reach, reach), abs=1e-12)
        assert difference.p_value == 1.0
        assert not difference.shown
    assert detectable_paired(0.0, count) is None


@pytest.mark.parametrize(("pairs", "value"), [(Pairs(0, 0, 1319, 0), 1.0), (Pairs(0, 1319, 0, 0), -1.0)], ids=str)
def test_pairs_that_all_changed(pairs: Pairs, value: float) -> None:
    """All one way: the p-value, 2^-1318, is no float; the interval ends at the value, somewhat wider than Wilson's."""
    difference = paired(pairs)
    assert (difference.value, difference.p_value) == (value, 0.0)
    ends = sorted((abs(difference.low), abs(difference.high)))
    assert ends[1] == pytest.approx(1)
    assert 0.99 < ends[0] < Proportion(1319, 1319).interval()[0]


@pytest.mark.parametrize(("share", "count", "delta"), OTHERS["detectable_unpaired"])
def test_detectable_by_two_samples(share: float, count: int, delta: float) -> None:
    assert detectable_unpaired(share, count) == pytest.approx(delta, abs=1e-6)


@pytest.mark.parametrize(("count", "discordance", "delta", "power"), OTHERS["exact_power"])
def test_detectable_by_pairs(count: int, discordance: float, delta: float, power: float) -> None:
    """The exact test has somewhat less power than the formula says, since it never rejects too often."""
    found = detectable_paired(discordance, count)
    assert found == pytest.approx(delta, rel=0.02)
    assert 0.75 < power < 0.80


def test_the_figures_of_the_guides() -> None:
    """The standard errors that lm-eval printed of 1319 questions, and what 1319 questions can show, calculated by
    hand: 2.8016 × √(2 × 0.94 × 0.06 / 1319) and 2.8016 × √(0.04 / 1319), the last a little less by Connor's formula."""
    for correct, value, error in ((1242, 0.9416, 0.0065), (1241, 0.9409, 0.0065), (1238, 0.9386, 0.0066)):
        share = Proportion(correct, 1319)
        assert (round(share.value, 4), round(share.standard_error or 0, 4)) == (value, error)
    for correct, value, error in ((1236, 0.9371, 0.0067), (1186, 0.8992, 0.0083), (1115, 0.8453, 0.0100)):
        share = Proportion(correct, 1319)
        assert (round(share.value, 4), round(share.standard_error or 0, 4)) == (value, error)
    assert detectable_unpaired(0.94, 1319) == pytest.approx(0.0259, abs=5e-5)
    assert detectable_paired(0.04, 1319) == pytest.approx(0.0154, abs=5e-5)
    assert unpaired(Proportion(1242, 1319), Proportion(1238, 1319)).z == pytest.approx(-0.328, abs=5e-4)


def test_published_pairs() -> None:
    """Newcombe (1998), Improved confidence intervals for the difference between binomial proportions based on paired
    data, table II (a): 36, 12, 2, 0 of 50. By hand: 2 × (1 + 14 + 91) / 2^14 = 0.01294."""
    assert exact_mcnemar(12, 2) == pytest.approx(212 / 16384)
    assert paired(Pairs(36, 12, 2, 0)).value == pytest.approx(-0.2)


def test_what_few_pairs_cannot_show() -> None:
    assert detectable_paired(0.01, 100) is None  # one changed verdict of a hundred
    assert detectable_paired(0.0, 1319) is None
    assert exact_mcnemar(0, 5) > 0.05 > exact_mcnemar(0, 6)


@given(counts, counts, counts, counts)
def test_pairs_swap(both: int, first: int, second: int, neither: int) -> None:
    """What holds from A to B holds from B to A with the other sign, and the value lies inside its interval."""
    pairs, other = Pairs(both, first, second, neither), Pairs(both, second, first, neither)
    if pairs.count == 0:
        return
    there, back = paired(pairs), paired(other)
    assert there.p_value == back.p_value
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-9)
    assert -1 <= there.low <= there.value + 1e-12
    assert there.value - 1e-12 <= there.high <= 1


@given(st.integers(1, 100_000), st.data())
def test_an_interval_holds_its_value(count: int, data: st.DataObject) -> None:
    share = Proportion(data.draw(st.integers(0, count)), count)
    low, high = share.interval()
    assert 0 <= low <= share.value + 1e-12
    assert share.value - 1e-12 <= high <= 1


@pytest.mark.parametrize(("share", "count"), [(0.94, 1319), (0.85, 1319), (0.9, 500), (0.6, 200), (0.94, 1000)])
def test_wilson_covers(share: float, count: int) -> None:
    drawn = np.random.default_rng(24).binomial(count, share, DRAWS)

    @cache
    def covers(correct: int) -> bool:
        low, high = Proportion(correct, count).interval()
        return low <= share <= high

    assert 0.94 <= np.mean([covers(int(correct)) for correct in drawn]) <= 0.96


@pytest.mark.parametrize(
    ("low_share", "high_share", "count", "least", "most"),
    [(0.5, 0.98, 1319, 0.942, 0.958), (0.98, 0.999, 1319, 0.93, 0.98), (0.5, 0.9, 200, 0.929, 0.961)],
)
def test_what_wilson_covers_exactly(low_share: float, high_share: float, count: int, least: float, most: float) -> None:
    """Summed over every count that may come, for 200 shares: it swings about 95 %, and most near 100 %."""
    bounds = [Proportion(correct, count).interval() for correct in range(count + 1)]
    logs = [math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) for k in range(count + 1)]
    covered = []
    for share in np.linspace(low_share, high_share, 200):
        chances = np.exp([log + k * math.log(share) + (count - k) * math.log1p(-share) for k, log in enumerate(logs)])
        covered.append(sum(chance for chance, (low, high) in zip(chances, bounds, strict=True) if low <= share <= high))
    assert least <= min(covered)
    assert max(covered) <= most
    assert 0.949 < np.mean(covered) < 0.954


@pytest.mark.parametrize(("first", "second", "count"), [(0.94, 0.93, 1319), (0.9, 0.9, 1319), (0.7, 0.6, 200)])
def test_the_interval_of_two_samples_covers(first: float, second: float, count: int) -> None:
    dice = np.random.default_rng(24)
    drawn = dice.binomial(count, first, DRAWS), dice.binomial(count, second, DRAWS)

    @cache
    def covers(one: int, other: int) -> bool:
        difference = unpaired(Proportion(one, count), Proportion(other, count))
        return difference.low <= second - first <= difference.high

    assert 0.94 <= np.mean([covers(int(one), int(other)) for one, other in zip(*drawn, strict=True)]) <= 0.96


@pytest.mark.parametrize(
    ("count", "both", "only_first", "only_second"),
    [(1319, 0.92, 0.02, 0.02), (1319, 0.90, 0.03, 0.015), (500, 0.85, 0.04, 0.06), (200, 0.6, 0.1, 0.15)],
)
def test_the_interval_of_pairs_covers(count: int, both: float, only_first: float, only_second: float) -> None:
    truth = only_second - only_first
    shares = [both, only_first, only_second, 1 - both - only_first - only_second]
    drawn = np.random.default_rng(24).multinomial(count, shares, DRAWS)

    @cache
    def covers(lost: int, gained: int) -> bool:
        low, high = tango(Pairs(0, lost, gained, count - lost - gained))
        return low <= truth <= high

    covered = np.mean([covers(int(lost), int(gained)) for _, lost, gained, _ in drawn])
    assert 0.94 <= covered <= 0.96


@pytest.mark.parametrize(("count", "discordance"), [(1319, 0.04), (200, 0.25)])
def test_the_exact_test_seldom_errs(count: int, discordance: float) -> None:
    """Of two equal sides it finds a difference in at most one of twenty."""
    dice = np.random.default_rng(24)
    changed = dice.binomial(count, discordance, DRAWS)
    gained = dice.binomial(changed, 0.5)
    p_of = cache(exact_mcnemar)
    rejected = np.mean([p_of(int(all_ - up), int(up)) < 0.05 for all_, up in zip(changed, gained, strict=True)])
    assert 0.02 < rejected <= 0.05


def test_one_question() -> None:
    assert Proportion(1, 1).standard_error is None
    assert unpaired(Proportion(1, 1), Proportion(1, 1)).z == 0
    assert not unpaired(Proportion(0, 1), Proportion(1, 1)).shown
    assert not paired(Pairs(0, 0, 1, 0)).shown
