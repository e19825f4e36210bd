"""The empirical cumulative distribution: what share of the values is at most x. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

Counted = Sequence[tuple[float, int]]
"""Values in rising order, and how often each is there."""


def ecdf(counted: Counted) -> list[tuple[float, float]]:
    """At each value, the share of all that is at most this value: it rises there, and ends at 1."""
    upto = list(accumulate(count for _, count in counted))
    return [(value, sum_ / upto[-1]) for (value, _), sum_ in zip(counted, upto, strict=True)]


def thinned(points: Iterable[tuple[float, float]], width: float) -> list[tuple[float, float]]:
    """Of a rising curve, the last point of each run of points that are within `width` of each other on x: what is drawn
    is never further than that from what is. `width` 0 leaves all of them.
    """
    thin: list[tuple[float, float]] = []
    begun = 0.0
    for x, y in points:
        if thin and x - begun < width:
            thin[-1] = (x, y)
        else:
            thin.append((x, y))
            begun = x
    return thin
