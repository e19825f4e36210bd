"""Mean, spread and percentiles, by the definitions of numpy that `vllm bench serve` reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

PERCENTILES: Final = (50.0, 90.0, 95.0, 99.0)


@dataclass(frozen=True, slots=True)
class Distribution:
    """`percentiles` are pairs (p, value). `std` is that of the population (numpy's default, ddof = 0)."""

    count: int
    mean: float
    median: float
    std: float
    percentiles: tuple[tuple[float, float], ...]

    def percentile(self, p: float) -> float:
        """One of those that were computed."""
        return dict(self.percentiles)[p]


def describe(values: Iterable[float], percentiles: Sequence[float] = PERCENTILES) -> Distribution | None:
    """None where there are no values: an empty set has no latency, and not one of zero."""
    ordered = sorted(values)
    if not ordered:
        return None
    mean = math.fsum(ordered) / len(ordered)
    return Distribution(
        count=len(ordered),
        mean=mean,
        median=percentile(ordered, 50.0),
        std=math.sqrt(math.fsum((value - mean) ** 2 for value in ordered) / len(ordered)),
        percentiles=tuple((p, percentile(ordered, p)) for p in percentiles),
    )


def percentile(ordered: Sequence[float], p: float) -> float:
    """The `p`-th percentile (0 to 100) of sorted values, by linear interpolation between the nearest ranks.

    Definition 7 of Hyndman & Fan (1996), numpy's `method="linear"`.
    """
    below, above, share = rank(len(ordered), p)
    return ordered[below] + (ordered[above] - ordered[below]) * share


def rank(count: int, p: float) -> tuple[int, int, float]:
    """The places, counted from 0, of the two sorted values between which the `p`-th percentile lies, and how far."""
    position = (count - 1) * p / 100
    below = math.floor(position)
    return below, min(below + 1, count - 1), position - below
