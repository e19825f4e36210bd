"""Many values in little memory: counted by whole microseconds. Pure."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from moonpad.stats.percentiles import PERCENTILES, Distribution, rank

A_SECOND: Final = 1_000_000


class Tally:
    """Seconds, as many as come. Count, mean and spread are those of the values themselves; a percentile is that of the
    values rounded to a microsecond, which is less than any client sees.
    """

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._sum_s = 0.0
        self._squares: list[float] = []
        self._count = 0

    def add(self, values_s: Sequence[float]) -> None:
        """The values of one request."""
        self._counts.update([round(value_s * A_SECOND) for value_s in values_s])
        self._sum_s = math.fsum((self._sum_s, *values_s))
        self._squares.append(math.fsum(value_s * value_s for value_s in values_s))
        self._count += len(values_s)
        if len(self._squares) > 1000:
            self._squares = [math.fsum(self._squares)]

    def describe(self, percentiles: Iterable[float] = PERCENTILES) -> Distribution | None:
        """None where there are no values."""
        if not self._count:
            return None
        mean = self._sum_s / self._count
        variance = max(0.0, math.fsum(self._squares) / self._count - mean * mean)
        values = sorted(self._counts)
        cumulative = list(accumulate(self._counts[value] for value in values))

        def at(place: int) -> float:
            return values[bisect_right(cumulative, place)] / A_SECOND

        def percentile(p: float) -> float:
            below, above, share = rank(self._count, p)
            return at(below) + (at(above) - at(below)) * share

        return Distribution(
            self._count, mean, percentile(50.0), math.sqrt(variance), tuple((p, percentile(p)) for p in percentiles)
        )
