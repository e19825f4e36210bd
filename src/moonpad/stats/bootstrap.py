"""How sure a statistic is, and a ratio of two samples: the bootstrap's standard error, on the logarithm of the ratio.

Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapters 6 and 13: the standard normal interval with the
bootstrap's standard error. The logarithm makes a ratio and its inverse the same question. Where several ratios are read
from one table, `questions` widens each, so that all of them hold together with that confidence (Bonferroni). So far out
it matters that the standard error is an estimate too: Student's t stands for the normal distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import NormalDist, fmean, stdev
from typing import Final

from moonpad.stats.percentiles import PERCENTILES, percentile

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 1000
DRAWS: Final = 2_000_000
"""Values that are drawn in all, at most: a large sample is resampled less often, and needs it less."""
LEAST_FREEDOM: Final = 4.0
"""Below it the series for Student's t is wrong by more than a few per cent."""
FEWEST: Final = 5
"""Values below which no interval is given."""

Statistic = Callable[[Sequence[float]], float]
"""Of sorted values."""
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Quantile:
    """The value that this share of all is below."""

    share: float

    def __call__(self, ordered: Sequence[float]) -> float:
        return percentile(ordered, 100 * self.share)

    def fewest(self, doubt: float) -> int:
        """The values it takes until the largest of them is above the true quantile but for `doubt`, and the smallest
        below it. Of fewer nothing says how far away it may be, and drawing among them again does not either.
        """
        return math.ceil(math.log(doubt) / math.log(max(self.share, 1 - self.share)))


def intervals_of(values: Sequence[float], *, seed: int = 0) -> dict[str, Interval]:
    """Of the mean ("mean") and the percentiles ("p50", …): where each would lie in another sample like this one, with
    `CONFIDENCE`. Without those that are too far out for so few values, and empty where there are too few for any.

    The bootstrap's percentile interval (chapter 13). It takes the values for independent of each other; those of
    requests that ran side by side are not quite.
    """
    if len(values) < FEWEST:
        return {}
    dice = Random(f"moonpad bootstrap {seed}")  # noqa: S311 - must repeat; nothing secret hangs on it
    rounds = max(100, min(RESAMPLES, DRAWS // (4 * len(values))))
    doubt = (1 - CONFIDENCE) / 2
    statistics: dict[str, Statistic] = {"mean": fmean}
    for p in PERCENTILES:
        quantile = Quantile(p / 100)
        if len(values) >= quantile.fewest(doubt):
            statistics[f"p{p:g}"] = quantile
    drawn: dict[str, list[float]] = {name: [] for name in statistics}
    for _ in range(rounds):
        sample = sorted(dice.choices(values, k=len(values)))
        for name, of in statistics.items():
            drawn[name].append(of(sample))
    ends = {name: sorted(rows) for name, rows in drawn.items()}
    return {name: (percentile(rows, 100 * doubt), percentile(rows, 100 * (1 - doubt))) for name, rows in ends.items()}


@dataclass(frozen=True, slots=True)
class Ratio:
    """`value` is second / first. `low` and `high` are None where there was too little to say how sure it is."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def differs(self) -> bool | None:
        """Whether 1 is outside of the interval; None without one."""
        return None if self.low is None or self.high is None else not self.low <= 1.0 <= self.high


def ratios_of(
    first: Sequence[float],
    second: Sequence[float],
    statistics: Mapping[str, Statistic],
    *,
    paired: bool = False,
    questions: int = 1,
    seed: int = 0,
) -> dict[str, Ratio]:
    """The ratios of positive statistics of two samples, by their names; without those that are not above 0.

    A quantile that is too far out for so few values has no interval.

    paired: the n-th of both is the same request, so what only some requests cost is not taken for a difference. They
    have the same number of values then.
    """
    if not first or not second:
        return {}
    ordered = sorted(first), sorted(second)
    both = {name: (of(ordered[0]), of(ordered[1])) for name, of in statistics.items()}
    values = {name: after / before for name, (before, after) in both.items() if before > 0 and after > 0}
    doubt = (1 - CONFIDENCE) / (2 * questions)
    fewest = {name: of.fewest(doubt) if isinstance(of, Quantile) else FEWEST for name, of in statistics.items()}
    count = min(len(first), len(second))
    dice = Random(f"moonpad bootstrap {seed}")  # noqa: S311 - must repeat; nothing secret hangs on it
    rounds = max(100, min(RESAMPLES, DRAWS // (len(first) + len(second))))
    logs: dict[str, list[float]] = {name: [] for name in values if count >= max(FEWEST, fewest[name])}
    for _ in range(rounds if logs else 0):
        if paired:
            places = dice.choices(range(len(first)), k=len(first))
            sample, other = sorted(first[at] for at in places), sorted(second[at] for at in places)
        else:
            sample, other = sorted(dice.choices(first, k=len(first))), sorted(dice.choices(second, k=len(second)))
        for name, drawn in logs.items():
            base, value = statistics[name](sample), statistics[name](other)
            if base > 0 and value > 0:
                drawn.append(math.log(value / base))
    ratios = {name: Ratio(value) for name, value in values.items()}
    for name, drawn in logs.items():
        freedom = sum(_freedom(sample, statistics[name]) for sample in ordered) / (2 if paired else 1)
        if len(drawn) >= rounds // 2:
            reach, value = math.exp(_student(1 - doubt, freedom) * stdev(drawn)), values[name]
            ratios[name] = Ratio(value, value / reach, value * reach)
    return ratios


def _freedom(values: Sequence[float], of: Statistic) -> float:
    """The degrees of freedom of the standard error of a statistic of these values: 1 / (2 c²), where c is the share by
    which it is wrong itself. Of a mean, or what is taken for one, c² is (kurtosis - 1) / 4n; of a quantile c is n to
    the power of -1/4, up to a constant (Hall & Martin, Exact convergence rate of bootstrap quantile variance estimator,
    1988).
    """
    count = len(values)
    if isinstance(of, Quantile):
        return math.sqrt(4 * of.share * (1 - of.share) * count)  # of a median that is the root of all
    middle = fmean(values)
    second = fmean((value - middle) ** 2 for value in values)
    fourth = fmean((value - middle) ** 4 for value in values)
    excess = fourth / second**2 - 1 if second > 0 else 0.0
    return min(count - 1.0, 2 * count / excess) if excess > 0 else count - 1.0


def _student(share: float, freedom: float) -> float:
    """The quantile of Student's t: Abramowitz & Stegun, Handbook of Mathematical Functions (1964), 26.7.5."""
    z, v = NormalDist().inv_cdf(share), max(freedom, LEAST_FREEDOM)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / v + second / v**2 + third / v**3
