"""From the records of a run to its figures, by the definitions of `vllm bench serve` 0.32.

Failed requests count as failed and are in no other figure.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from moonpad.bench.slo import NO_LIMITS, Slo
from moonpad.bench.steady import Steady, steady_window
from moonpad.load.record import RequestRecord
from moonpad.stats.bootstrap import Interval, intervals_of
from moonpad.stats.percentiles import Distribution, describe
from moonpad.stats.tally import Tally


@dataclass(frozen=True, slots=True)
class Metrics:
    """Seconds, and tokens or requests a second. A distribution is None where no request had a value.

    ttft_s: to the first token of any kind. answer_ttft_s: to the first of the answer, after the thinking.
    tpot_s: one value a request. itl_s: every gap of every request, pooled.
    peak_output_throughput: chunks with tokens in the busiest second of the run, counted in whole seconds from the first
        request on; equal to tokens where the server sends one token a chunk.
    peak_concurrency: requests that were in flight at some moment of the same second, at most.
    input_tokens_counted, output_tokens_counted: how many successful requests were counted by the server's `usage`.
    usage_below_chunks: requests whose `usage` has fewer tokens than chunks came, which cannot be.
    slip_s: how late the client itself sent; queued_s: how long requests waited for a slot, under a cap.
    mean_itl_s: the mean gap of each request, one value a request, where `itl_s` counts long answers more.
    good: requests within every limit of the SLO; None where it has none.
    steady: the part of the run in which as many requests ran as ever, nearly; None where there was none worth a figure.
    intervals: of a latency's statistics, by "mean_ttft" and the like: where another such run would lie, at 95 %.
    """

    completed: int
    failed: int
    failures: Mapping[str, int]
    duration_s: float
    input_tokens: int
    output_tokens: int
    failed_output_chunks: int
    input_tokens_counted: int
    output_tokens_counted: int
    usage_below_chunks: int
    peak_output_throughput: float
    peak_concurrency: int
    ttft_s: Distribution | None
    answer_ttft_s: Distribution | None
    tpot_s: Distribution | None
    itl_s: Distribution | None
    mean_itl_s: Distribution | None
    e2el_s: Distribution | None
    slip_s: Distribution | None
    queued_s: Distribution | None
    good: int | None = None
    steady: Steady | None = None
    intervals: Mapping[str, Interval] = field(default_factory=dict)

    @property
    def goodput(self) -> float | None:
        """Good requests a second."""
        return None if self.good is None else self._a_second(self.good)

    @property
    def request_throughput(self) -> float:
        return self._a_second(self.completed)

    @property
    def output_throughput(self) -> float:
        return self._a_second(self.output_tokens)

    @property
    def total_throughput(self) -> float:
        return self._a_second(self.input_tokens + self.output_tokens)

    def _a_second(self, count: int) -> float:
        return count / self.duration_s if self.duration_s > 0 else 0.0


def metrics_of(records: Collection[RequestRecord], duration_s: float, slo: Slo = NO_LIMITS) -> Metrics:
    """`duration_s` is from the run's zero to the end of its last request. Of a request, its latencies alone are kept:
    `records` is gone through twice, and may be larger than the memory.
    """
    seen = _Seen()
    for record in records:
        seen.take(record, slo)
    window = steady_window(seen.started_s, seen.closed_s)
    chunks, steady_tokens = _chunks(records, min(seen.started_s, default=0.0), window)
    intervals: dict[str, Interval] = {}
    for name, values in (("ttft", seen.ttft_s), ("tpot", seen.tpot_s), ("e2el", seen.e2el_s)):
        intervals |= {f"{statistic}_{name}": found for statistic, found in intervals_of(values).items()}
    return Metrics(
        completed=len(seen.e2el_s),
        failed=seen.failures.total(),
        failures=dict(seen.failures.most_common()),
        duration_s=duration_s,
        input_tokens=seen.input_tokens,
        output_tokens=seen.output_tokens,
        failed_output_chunks=seen.failed_output_chunks,
        input_tokens_counted=seen.input_tokens_counted,
        output_tokens_counted=seen.output_tokens_counted,
        usage_below_chunks=seen.usage_below_chunks,
        peak_output_throughput=float(max(chunks.values(), default=0)),
        peak_concurrency=_peak_concurrency(seen.started_s, seen.ended_s),
        ttft_s=describe(seen.ttft_s),
        answer_ttft_s=describe(seen.answer_ttft_s),
        tpot_s=describe(seen.tpot_s),
        itl_s=seen.itl_s.describe(),
        mean_itl_s=describe(seen.mean_itl_s),
        e2el_s=describe(seen.e2el_s),
        slip_s=describe(seen.slip_s),
        queued_s=describe(seen.queued_s),
        good=seen.good if slo.given else None,
        steady=None if window is None else Steady(*window, steady_tokens / (window[1] - window[0])),
        intervals=intervals,
    )


def _doubles() -> array[float]:
    return array("d")


@dataclass(slots=True)
class _Seen:
    """What is kept of the records: some bytes each."""

    started_s: array[float] = field(default_factory=_doubles)
    ended_s: array[float] = field(default_factory=_doubles)
    closed_s: array[float] = field(default_factory=_doubles)
    ttft_s: array[float] = field(default_factory=_doubles)
    answer_ttft_s: array[float] = field(default_factory=_doubles)
    tpot_s: array[float] = field(default_factory=_doubles)
    mean_itl_s: array[float] = field(default_factory=_doubles)
    e2el_s: array[float] = field(default_factory=_doubles)
    slip_s: array[float] = field(default_factory=_doubles)
    queued_s: array[float] = field(default_factory=_doubles)
    itl_s: Tally = field(default_factory=Tally)
    failures: Counter[str] = field(default_factory=Counter)
    failed_output_chunks: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    input_tokens_counted: int = 0
    output_tokens_counted: int = 0
    usage_below_chunks: int = 0
    good: int = 0

    def take(self, record: RequestRecord, slo: Slo) -> None:
        if record.failure is not None:
            self.failures[record.failure.label] += 1
            self.failed_output_chunks += len(record.token_times_s)
            return
        self.started_s.append(record.started_s)
        self.ended_s.append(record.ended_s)
        self.closed_s.append(record.closed_s)
        self.e2el_s.append(record.e2el_s)
        self.slip_s.append(record.slip_s)
        self.queued_s.append(record.queued_s)
        for values, value in (
            (self.ttft_s, record.ttft_s),
            (self.answer_ttft_s, record.answer_ttft_s),
            (self.tpot_s, record.tpot_s),
        ):
            if value is not None:
                values.append(value)
        if gaps := record.itl_s:
            self.itl_s.add(gaps)
            self.mean_itl_s.append(math.fsum(gaps) / len(gaps))
        self.input_tokens += _input_tokens(record)
        self.output_tokens += record.output_tokens
        self.input_tokens_counted += record.prompt_tokens is not None
        self.output_tokens_counted += record.output_tokens_from == "usage"
        self.usage_below_chunks += record.output_tokens < len(record.token_times_s)
        self.good += slo.keeps(record)


def _input_tokens(record: RequestRecord) -> int:
    return record.requested_input_tokens if record.prompt_tokens is None else record.prompt_tokens


def _chunks(
    records: Collection[RequestRecord], zero_s: float, window: tuple[float, float] | None
) -> tuple[Counter[int], float]:
    """Chunks with tokens by whole second since `zero_s`, and the tokens in the window; a chunk's are its even share."""
    chunks: Counter[int] = Counter()
    tokens = 0.0
    for record in records:
        if not record.ok or not record.token_times_s:
            continue
        times = record.token_times_s
        chunks.update([math.floor(time_s - zero_s) for time_s in times])
        if window is not None:
            inside = bisect_right(times, window[1]) - bisect_left(times, window[0])
            tokens += record.output_tokens * inside / len(times)
    return chunks, tokens


def _peak_concurrency(started_s: array[float], ended_s: array[float]) -> int:
    """Requests of the second that had the most of them in flight, at some moment of it."""
    if not started_s:
        return 0
    zero_s = min(started_s)
    changes: Counter[int] = Counter(math.floor(one - zero_s) for one in started_s)
    changes.subtract(Counter(math.floor(one - zero_s) + 1 for one in ended_s))
    running = peak = 0
    for second in sorted(changes):
        running += changes[second]
        peak = max(peak, running)
    return peak
