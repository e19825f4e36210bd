"""Quantiles of an engine's requests, from the buckets of the histograms in its `/metrics`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from moonpad.engines.base import RequestTimeNames
from moonpad.observe.metrics import BODY_BYTES, LINES, MOST

WATCHED: Final = ("ttft", "between_tokens", "e2e")
"""Fields of `RequestTimeNames` whose quantiles are watched."""


@dataclass(frozen=True, slots=True)
class Quantile:
    """Seconds. The true value lies between `low_s` and `high_s`, the ends of its bucket; `value_s` assumes that the
    bucket is evenly filled. `high_s` None: above the last bound of the engine, and `value_s` is that bound."""

    value_s: float
    low_s: float
    high_s: float | None

    def as_json(self) -> dict[str, float | None]:
        return {"value": round(self.value_s, 6), "low": self.low_s, "high": self.high_s}


@dataclass(frozen=True, slots=True)
class Histogram:
    """`counts[i]` requests (or tokens) took at most `bounds[i]` seconds, since the engine started; over all label sets.
    The last bound is infinite."""

    bounds: tuple[float, ...]
    counts: tuple[float, ...]

    @property
    def count(self) -> float:
        return self.counts[-1] if self.counts else 0.0

    def since(self, before: Self | None) -> Histogram:
        """Between two looks; one that counts backwards, or has other bounds, was started again and is taken whole."""
        if before is None or before.bounds != self.bounds:
            return self
        growth = tuple(now - then for now, then in zip(self.counts, before.counts, strict=True))
        return self if min(growth, default=0.0) < 0 else Histogram(self.bounds, growth)

    def quantile(self, share: float) -> Quantile | None:
        """Linear inside the bucket, whose lower end is 0 for the first one, as Prometheus' `histogram_quantile` does
        (https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile). None without a request.
        """
        if self.count <= 0:
            return None
        rank, low_s, below = share * self.count, 0.0, 0.0
        for bound, count in zip(self.bounds, self.counts, strict=True):
            if count >= rank and count > below:
                if math.isinf(bound):
                    return Quantile(low_s, low_s, None)
                part = (rank - below) / (count - below)
                return Quantile(low_s + (bound - low_s) * part, low_s, bound)
            low_s, below = bound, count
        return None


def read_histograms(body: bytes, names: RequestTimeNames, fields: Iterable[str] = WATCHED) -> Mapping[str, Histogram]:
    """By field of `RequestTimeNames`, those that a Prometheus text reports and that are whole. Never raises.

    Read by a pattern and not by prometheus_client's parser: a watch reads some hundred buckets every two seconds.
    """
    known = {name: field for field in fields if (name := getattr(names, field))}
    if not known or len(body) > BODY_BYTES or not body.endswith(b"\n"):
        return {}
    sums: dict[str, dict[float, float]] = {}
    for count, (name, labels, text) in enumerate(_pattern(known).findall(body)):
        if count > LINES:
            return {}
        try:
            bound, value = _bound(labels), float(text)
        except ValueError:
            return {}
        row = sums.setdefault(known[name.decode()], {})
        row[bound] = row.get(bound, 0.0) + value
    return {field: whole for field, row in sums.items() if (whole := _whole(row)) is not None}


def as_json(histogram: Histogram, over_s: float | None) -> dict[str, Any]:
    """`over_s`: the seconds that it counts; None since the engine started."""
    quantiles = {f"p{percent}": histogram.quantile(percent / 100) for percent in (50, 90, 99)}
    shown = {name: quantile and quantile.as_json() for name, quantile in quantiles.items()}
    return {"count": histogram.count, "over_s": None if over_s is None else round(over_s, 3), **shown}


def _pattern(known: Mapping[str, str]) -> re.Pattern[bytes]:
    names = b"|".join(re.escape(name.encode()) for name in known)
    return re.compile(rb"^(%s)_bucket\{([^\n]*)\}[ \t]+([^\s]+)" % names, re.MULTILINE)


_LE: Final = re.compile(rb'(?:^|,)\s*le="([^"]+)"')


def _bound(labels: bytes) -> float:
    match = _LE.search(labels)
    if match is None:
        raise ValueError("a bucket without a bound")
    return float(match[1])


def _whole(row: Mapping[float, float]) -> Histogram | None:
    """None where a count is not one, or a bucket holds less than the ones inside it."""
    bounds = tuple(sorted(row))
    counts = tuple(row[bound] for bound in bounds)
    rising = all(low <= high for low, high in zip((0.0, *counts), counts, strict=False))
    if not bounds or any(map(math.isnan, bounds)) or not math.isinf(bounds[-1]) or bounds[0] < 0:
        return None
    return Histogram(bounds, counts) if rising and counts[-1] <= MOST else None
