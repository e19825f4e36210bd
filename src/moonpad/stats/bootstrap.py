"""How sure a statistic is, and a ratio of two samples: the bootstrap's standard error, on the logarithm of the ratio.

Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapters 6 and 13: the standard normal interval with the
bootstrap's standard error. The logarithm makes a ratio and its inverse the same question. Where several ratios are read
from one table, `questions` widens each, so that all of them hold together with that confidence (Bonferroni).
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
FEWEST: Final = 5
"""Values below which no interval is given."""

Statistic = Callable[[Sequence[float]], float]
Interval = tuple[float, float]


def intervals_of(values: Sequence[float], *, seed: int = 0) -> dict[str, Interval]:
    """Of the mean ("mean") and the percentiles ("p50", …): where each would lie in another sample like this one, with
    `CONFIDENCE`. Empty where there are too few values.

    The bootstrap's percentile interval (chapter 13). It takes the values for independent of each other; those of
    requests that ran side by side are not quite.
    """
    if len(values) < FEWEST:
        return {}
    dice = Random(f"moonpad bootstrap {seed}")  # noqa: S311 - must repeat; nothing secret hangs on it
    rounds = max(100, min(RESAMPLES, DRAWS // (4 * len(values))))
    found: dict[str, list[float]] = {"mean": [], **{f"p{p:g}": [] for p in PERCENTILES}}
    for _ in range(rounds):
        drawn = sorted(dice.choices(values, k=len(values)))
        found["mean"].append(fmean(drawn))
        for p in PERCENTILES:
            found[f"p{p:g}"].append(percentile(drawn, p))
    tail = 100 * (1 - CONFIDENCE) / 2
    ends = {name: sorted(rows) for name, rows in found.items()}
    return {name: (percentile(rows, tail), percentile(rows, 100 - tail)) for name, rows in ends.items()}


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


def ratio_of(
    first: Sequence[float],
    second: Sequence[float],
    statistic: Statistic,
    *,
    paired: bool = False,
    confidence: float = CONFIDENCE,
    questions: int = 1,
    seed: int = 0,
) -> Ratio | None:
    """One of `ratios_of`, or None where it has none."""
    asked = {"": statistic}
    return ratios_of(
        first, second, asked, paired=paired, confidence=confidence, questions=questions, seed=seed
    ).get("")  # fmt: skip


def ratios_of(
    first: Sequence[float],
    second: Sequence[float],
    statistics: Mapping[str, Statistic],
    *,
    paired: bool = False,
    confidence: float = CONFIDENCE,
    questions: int = 1,
    seed: int = 0,
) -> dict[str, Ratio]:
    """The ratios of positive statistics of two samples, by their names; without those that are not above 0.

    A statistic gets its values sorted. paired: the n-th of both is the same request, so what only some requests cost is
    not taken for a difference. They have the same number of values then.
    """
    if not first or not second:
        return {}
    ordered = sorted(first), sorted(second)
    whole = {name: (of(ordered[0]), of(ordered[1])) for name, of in statistics.items()}
    values = {name: other / one for name, (one, other) in whole.items() if one > 0 and other > 0}
    if min(len(first), len(second)) < FEWEST:
        return {name: Ratio(value) for name, value in values.items()}
    dice = Random(f"moonpad bootstrap {seed}")  # noqa: S311 - must repeat; nothing secret hangs on it
    rounds = max(100, min(RESAMPLES, DRAWS // (len(first) + len(second))))
    logs: dict[str, list[float]] = {name: [] for name in values}
    for _ in range(rounds):
        one, other = _resampled(first, second, paired, dice)
        for name, found in logs.items():
            base, value = statistics[name](one), statistics[name](other)
            if base > 0 and value > 0:
                found.append(math.log(value / base))
    width = NormalDist().inv_cdf(1 - (1 - confidence) / (2 * questions))
    return {
        name: _within(value, width * stdev(logs[name])) if len(logs[name]) >= rounds // 2 else Ratio(value)
        for name, value in values.items()
    }


def _within(value: float, reach: float) -> Ratio:
    return Ratio(value, value * math.exp(-reach), value * math.exp(reach))


def _resampled(
    first: Sequence[float], second: Sequence[float], paired: bool, dice: Random
) -> tuple[list[float], list[float]]:
    """Another sample of each, sorted."""
    if paired:
        places = dice.choices(range(len(first)), k=len(first))
        return sorted(first[at] for at in places), sorted(second[at] for at in places)
    return sorted(dice.choices(first, k=len(first))), sorted(dice.choices(second, k=len(second)))
