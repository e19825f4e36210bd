"""What a page shows of a run's requests, from one pass over them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moonpad.load.record import RequestRecord

MOST_BARS: Final = 300
"""Requests that are drawn one by one: a page has no room for more lines."""
SLICE_S: Final = 0.1
"""The finest in which tokens are counted."""
LATENCIES: Final = ("ttft", "tpot", "itl", "e2el")
MOST_S: Final = 1e9
"""Some thirty years: a later time is not one of a run."""


@dataclass(frozen=True, slots=True)
class RequestData:
    """`latencies_ms`: for each of `LATENCIES` the values of the successful requests in rising order, and how often each
    is there; of ITL by whole microseconds.

    bars: those of `count` requests that are drawn, evenly over their indices, by the instant at which they were due.
    tokens: output tokens of successful requests by slice of `SLICE_S`; a chunk has an even share of its answer's.
    failures: (label, how many, the message of the first) of each kind.
    end_s: when the last request ended.
    """

    count: int
    failed: int
    latencies_ms: Mapping[str, Sequence[tuple[float, int]]]
    bars: tuple[RequestRecord, ...]
    tokens: Mapping[int, float]
    failures: tuple[tuple[str, int, str], ...]
    end_s: float


def requests_of(records: Sequence[RequestRecord]) -> RequestData:
    """
    Raises:
        TypeError, ValueError: a record has a value that is not a time.
    """
    count = len(records)
    drawn = {place * count // min(MOST_BARS, count) for place in range(min(MOST_BARS, count))}
    values: dict[str, Counter[float]] = {name: Counter() for name in LATENCIES}
    failures: Counter[str] = Counter()
    first_texts: dict[str, str] = {}
    tokens: dict[int, float] = {}
    bars = []
    end_s = 0.0
    for place, record in enumerate(records):
        _check(record)
        end_s = max(end_s, record.ended_s)
        if place in drawn:
            bars.append(record)
        if record.failure is not None:
            failures[record.failure.label] += 1
            first_texts.setdefault(record.failure.label, record.failure.text)
        else:
            _count(record, values, tokens)
    return RequestData(
        count=count,
        failed=failures.total(),
        latencies_ms={name: [(value, counts[value]) for value in sorted(counts)] for name, counts in values.items()},
        bars=tuple(sorted(bars, key=lambda bar: (bar.scheduled_s, bar.index))),
        tokens=tokens,
        failures=tuple((label, number, first_texts[label]) for label, number in failures.most_common()),
        end_s=end_s,
    )


def _check(record: RequestRecord) -> None:
    first = () if record.first_token_s is None else (record.first_token_s,)
    times = (record.scheduled_s, record.started_s, *first, record.ended_s, *record.token_times_s)
    if invalid := [time_s for time_s in times if not abs(time_s) <= MOST_S]:
        raise ValueError(f"request {record.index} has a time of {invalid[0]} s")


def _count(record: RequestRecord, values: Mapping[str, Counter[float]], tokens: dict[int, float]) -> None:
    for name, value_s in (("ttft", record.ttft_s), ("tpot", record.tpot_s), ("e2el", record.e2el_s)):
        if value_s is not None:
            values[name][value_s * 1000] += 1
    values["itl"].update([round(gap_s * 1e6) / 1000 for gap_s in record.itl_s])
    times = record.token_times_s
    for time_s in times:
        place = math.floor(time_s / SLICE_S)
        tokens[place] = tokens.get(place, 0.0) + record.output_tokens / len(times)
