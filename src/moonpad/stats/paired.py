"""The same questions answered twice: which answers changed, and whether one side is better. Pure.

McNemar (1947) in its exact form; the interval of the difference by Tango, Equivalence test and confidence interval for
the difference in proportions for the paired-sample design (1998); the power by Connor, Sample size for testing
differences in proportions for the paired-sample design (1987).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist

from moonpad.stats.proportion import CONFIDENCE, POWER, Difference, Interval, Proportion, quantile

STEPS = 80
"""Of a bisection: enough for every digit of a float."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Counts of questions: right in both, only in the first, only in the second, in neither."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @classmethod
    def of(cls, verdicts: Iterable[tuple[bool, bool]]) -> Pairs:
        counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
        for verdict in verdicts:
            counts[verdict] += 1
        return cls(*counts.values())

    @property
    def count(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def discordant(self) -> int:
        """Questions whose verdict changed."""
        return self.only_first + self.only_second

    @property
    def first(self) -> Proportion:
        return Proportion(self.both + self.only_first, self.count)

    @property
    def second(self) -> Proportion:
        return Proportion(self.both + self.only_second, self.count)


def paired(pairs: Pairs, confidence: float = CONFIDENCE) -> Difference:
    """Second − first, of at least one pair: the exact test, and Tango's interval."""
    value = (pairs.only_second - pairs.only_first) / pairs.count
    return Difference(value, *tango(pairs, confidence), exact_mcnemar(pairs.only_first, pairs.only_second))


def exact_mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided p-value: were both sides equal, each change would go either way like a coin."""
    count, fewer = only_first + only_second, min(only_first, only_second)
    if count == 0:
        return 1.0
    # Whole numbers: a float has no 2^-1100.
    tail = sum(math.comb(count, k) for k in range(fewer + 1))
    return min(1.0, 2 * tail / (1 << count))


def tango(pairs: Pairs, confidence: float = CONFIDENCE) -> Interval:
    """The differences second − first that a score test does not reject."""
    z = quantile(confidence)
    value = (pairs.only_second - pairs.only_first) / pairs.count
    low = _crossing(pairs, z, -1.0, value)
    high = _crossing(pairs, -z, value, 1.0)
    return low, high


def _crossing(pairs: Pairs, target: float, low: float, high: float) -> float:
    """Where the score, which falls as the difference grows, is `target`."""
    for _ in range(STEPS):
        middle = (low + high) / 2
        if _score(pairs, middle) > target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _score(pairs: Pairs, delta: float) -> float:
    """How many standard errors the observed difference lies above `delta`."""
    count, gained, lost = pairs.count, pairs.only_second, pairs.only_first
    # The likeliest share of lost questions under that difference: the root of 2n q² + b q + c.
    b = -gained - lost + (2 * count - gained + lost) * delta
    c = -lost * delta * (1 - delta)
    share = (math.sqrt(max(0.0, b * b - 8 * count * c)) - b) / (4 * count)
    variance = count * (2 * share + delta * (1 - delta))
    above = gained - lost - count * delta
    if variance <= 0:
        return math.copysign(math.inf, above) if above else 0.0
    return above / math.sqrt(variance)


def detectable_paired(
    discordance: float, count: int, power: float = POWER, confidence: float = CONFIDENCE
) -> float | None:
    """The smallest difference that `count` pairs show with that power, where that share of verdicts changes. None: not
    even if every change went the same way.
    """
    z_doubt, z_power = quantile(confidence), NormalDist().inv_cdf(power)

    def needed(delta: float) -> float:
        root = z_doubt * math.sqrt(discordance) + z_power * math.sqrt(max(0.0, discordance - delta**2))
        return (root / delta) ** 2

    if not 0 < discordance <= 1 or needed(discordance) > count:
        return None
    low, high = 0.0, discordance
    for _ in range(STEPS):
        middle = (low + high) / 2
        if needed(middle) > count:
            low = middle
        else:
            high = middle
    return high
