"""Where the time of an engine's requests went, by the histograms of its `/metrics`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from moonpad.engines.base import RequestTimeNames
from moonpad.observe.metrics import BODY_BYTES, LINES, MOST, lines_named, values_of
from moonpad.values.records import field_names


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """Sums and counts by the name of a field of `RequestTimeNames`, since the engine started; over all label sets."""

    sums: Mapping[str, float]
    counts: Mapping[str, float]

    def mean(self, name: str) -> float | None:
        """Seconds, or tokens; None where the engine does not report it, or has had no request."""
        count = self.counts.get(name, 0.0)
        return self.sums[name] / count if count > 0 else None

    def since(self, before: Self) -> RequestTimes:
        """Of the requests between two looks; one that counts backwards was started again, and is taken whole."""
        names = [name for name in self.sums if self.counts[name] >= before.counts.get(name, 0.0)]
        return RequestTimes(
            {name: max(0.0, self.sums[name] - before.sums.get(name, 0.0)) for name in names},
            {name: self.counts[name] - before.counts.get(name, 0.0) for name in names},
        )


NOTHING = RequestTimes({}, {})


def read_times(body: bytes, names: RequestTimeNames) -> RequestTimes:
    """What a Prometheus text reports; NOTHING where it is of another format, or has none of the names. Never raises."""
    known = {field: name for field in field_names(type(names)) if (name := getattr(names, field))}
    if len(body) > BODY_BYTES or not body.endswith(b"\n"):
        return NOTHING
    lines = lines_named(body, [f"{name}_{end}" for name in known.values() for end in ("sum", "count")])
    if len(lines) > LINES:
        return NOTHING
    try:
        values = values_of(b"\n".join(lines).decode() + "\n")
    except (ValueError, LookupError, ArithmeticError):
        return NOTHING
    sums, counts = {}, {}
    for field, name in known.items():
        total, count = sum(values.get(f"{name}_sum", [math.nan])), sum(values.get(f"{name}_count", [math.nan]))
        if 0 <= total <= MOST and 0 <= count <= MOST:
            sums[field], counts[field] = total, count
    return RequestTimes(sums, counts)
