"""A share of right answers, and how sure it is. Pure.

Wilson, Probable inference, the law of succession, and statistical inference (1927); Newcombe, Interval estimation for
the difference between independent proportions (1998), method 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

CONFIDENCE: Final = 0.95
POWER: Final = 0.80
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Proportion:
    """`correct` of `count`, of which there is at least one."""

    correct: int
    count: int

    @property
    def value(self) -> float:
        return self.correct / self.count

    @property
    def standard_error(self) -> float | None:
        """As lm-eval prints it: the sample's standard deviation (ddof = 1) over the root of the count. None of one."""
        if self.count < 2:
            return None
        return math.sqrt(self.value * (1 - self.value) / (self.count - 1))

    @property
    def shrunk(self) -> float:
        """Towards a half, by two right and two wrong answers more (Agresti & Coull): so that of none right in 200 a
        difference of nothing does not seem to show."""
        return (self.correct + 2) / (self.count + 4)

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Wilson's score interval, without continuity correction."""
        z = quantile(confidence)
        middle = self.value + z * z / (2 * self.count)
        reach = z * math.sqrt(self.value * (1 - self.value) / self.count + z * z / (4 * self.count**2))
        scale = 1 + z * z / self.count
        return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)


def quantile(confidence: float) -> float:
    """Of the normal distribution, for an interval with both ends: 1.96 for 0.95."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


@dataclass(frozen=True, slots=True)
class Difference:
    """`value` is second − first, with its interval; `p_value` of the test that it is 0, from both sides."""

    value: float
    low: float
    high: float
    p_value: float
    z: float | None = None

    @property
    def shown(self) -> bool:
        """Whether the test says that there is a difference, at the confidence of the interval (95 %)."""
        return self.p_value < 1 - CONFIDENCE


def unpaired(first: Proportion, second: Proportion, confidence: float = CONFIDENCE) -> Difference:
    """Of two samples of which nothing else is known: Newcombe's hybrid score interval, and z of the pooled test. By the
    two standard errors as lm-eval prints them, z would be infinite where both are 0, of however few answers.
    """
    value = second.value - first.value
    (low_1, high_1), (low_2, high_2) = first.interval(confidence), second.interval(confidence)
    low = value - math.hypot(second.value - low_2, high_1 - first.value)
    high = value + math.hypot(high_2 - second.value, first.value - low_1)
    pooled = (first.correct + second.correct) / (first.count + second.count)
    error = math.sqrt(pooled * (1 - pooled) * (1 / first.count + 1 / second.count))
    z = value / error if error else 0.0  # all right, or all wrong, on both sides
    return Difference(value, max(-1.0, low), min(1.0, high), 2 * NormalDist().cdf(-abs(z)), z)


def detectable_unpaired(share: float, count: int, power: float = POWER, confidence: float = CONFIDENCE) -> float:
    """The smallest difference of two shares near `share`, of `count` each, that a test finds with that power."""
    return (quantile(confidence) + NormalDist().inv_cdf(power)) * math.sqrt(2 * share * (1 - share) / count)
