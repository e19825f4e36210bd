"""From the records of a run to its figures, by the definitions of `vllm bench serve` 0.32.

Failed requests count as failed and are in no other figure.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from moonpad.bench.config import NO_LIMITS, Slo
from moonpad.load.record import RequestRecord
from moonpad.stats.bootstrap import Interval, intervals_of
from moonpad.stats.histogram import Tally
from moonpad.stats.percentiles import Distribution, describe

NEARLY: Final = 0.9
"""The steady window runs from the first to the last instant with this share of the peak concurrency."""
LEAST_SHARE: Final = 0.2
"""A window shorter than this share of the run says less than the whole run."""


@dataclass(frozen=True, slots=True)
class SteadyWindow:
    """Seconds since the run began; tokens a second between them."""

    from_s: float
    to_s: float
    output_throughput: float


@dataclass(frozen=True, slots=True)
class Metrics:
    """Seconds, and tokens or requests a second. A distribution is None where no request had a value.

    ttft_s: to the first token of any kind. answer_ttft_s: to the first of the answer, after the thinking.
    tpot_s: one value a request. itl_s: every gap of every request, pooled.
    peak_output_throughput: chunks with tokens in the busiest second of the run, counted in whole seconds from the first
        request on; equal to tokens where the server sends one token a chunk.
    peak_concurrency: requests that were in flight at some moment of the same second, at most.
    requested_input_tokens, requested_output_tokens: of successful requests.
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
    requested_input_tokens: int
    requested_output_tokens: int
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
    steady: SteadyWindow | None = None
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


KEPT: Final = ("started_s", "ended_s", "closed_s", "e2el_s", "slip_s", "queued_s", "ttft_s", "answer_ttft_s", "tpot_s")
"""Kept for each successful request that has it: a few bytes each."""


def metrics_of(records: Collection[RequestRecord], duration_s: float, slo: Slo = NO_LIMITS) -> Metrics:
    """`duration_s` is from the run's zero to the end of its last request. `records` is iterated twice and may not fit
    in memory: only the latencies of each request are kept.
    """
    values = {name: array("d") for name in (*KEPT, "mean_itl_s")}
    counts, failures, itl_s = Counter[str](), Counter[str](), Tally()
    for record in records:
        if record.failure is not None:
            failures[record.failure.label] += 1
            counts["failed_output_chunks"] += len(record.token_times_s)
            continue
        for name in KEPT:
            if (value := getattr(record, name)) is not None:
                values[name].append(value)
        if gaps := record.itl_s:
            itl_s.add(gaps)
            values["mean_itl_s"].append(math.fsum(gaps) / len(gaps))
        prompt_tokens = record.prompt_tokens
        counts.update(
            good=slo.keeps(record),
            input_tokens=record.requested_input_tokens if prompt_tokens is None else prompt_tokens,
            output_tokens=record.output_tokens,
            requested_input_tokens=record.requested_input_tokens,
            requested_output_tokens=record.requested_output_tokens,
            input_tokens_counted=prompt_tokens is not None,
            output_tokens_counted=record.output_tokens_from == "usage",
            usage_below_chunks=record.output_tokens < len(record.token_times_s),
        )
    window = steady_window(values["started_s"], values["closed_s"])
    chunks, steady_tokens = _chunks(records, min(values["started_s"], default=0.0), window)
    distributions = ("ttft_s", "answer_ttft_s", "tpot_s", "mean_itl_s", "e2el_s", "slip_s", "queued_s")
    return Metrics(
        completed=len(values["e2el_s"]),
        failed=failures.total(),
        failures=dict(failures.most_common()),
        duration_s=duration_s,
        input_tokens=counts["input_tokens"],
        output_tokens=counts["output_tokens"],
        requested_input_tokens=counts["requested_input_tokens"],
        requested_output_tokens=counts["requested_output_tokens"],
        failed_output_chunks=counts["failed_output_chunks"],
        input_tokens_counted=counts["input_tokens_counted"],
        output_tokens_counted=counts["output_tokens_counted"],
        usage_below_chunks=counts["usage_below_chunks"],
        peak_output_throughput=float(max(chunks.values(), default=0)),
        peak_concurrency=_peak_concurrency(values["started_s"], values["ended_s"]),
        itl_s=itl_s.describe(),
        good=counts["good"] if slo.given else None,
        steady=None if window is None else SteadyWindow(*window, steady_tokens / (window[1] - window[0])),
        intervals={
            f"{statistic}_{name}": interval
            for name in ("ttft", "tpot", "e2el")
            for statistic, interval in intervals_of(values[f"{name}_s"]).items()
        },
        **{name: describe(values[name]) for name in distributions},
    )


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
    changes: Counter[int] = Counter(math.floor(start_s - zero_s) for start_s in started_s)
    changes.subtract(Counter(math.floor(end_s - zero_s) + 1 for end_s in ended_s))
    running = peak = 0
    for second in sorted(changes):
        running += changes[second]
        peak = max(peak, running)
    return peak


def steady_window(started_s: Sequence[float], closed_s: Sequence[float]) -> tuple[float, float] | None:
    """The part of a run in which the load was on: neither the start, when requests come in, nor the last ones running
    out. What a run of few requests says of throughput is mostly these two ends.

    From the first instant at which nearly as many requests run as ever, to the last; None where that is too
    small a part of the run to report.
    """
    starts, ends = sorted(started_s), sorted(closed_s)
    most = max((count for _, count in _running(starts, ends)), default=0)
    if not most:
        return None
    enough = NEARLY * most
    from_s = to_s = None
    was_enough = False
    for at_s, count in _running(starts, ends):
        if count >= enough and from_s is None:
            from_s = at_s
        if was_enough:
            to_s = at_s  # it lasted until this change
        was_enough = count >= enough
    if from_s is None or to_s is None or to_s - from_s < LEAST_SHARE * (ends[-1] - starts[0]) or to_s <= from_s:
        return None
    return from_s, to_s


def _running(starts: Sequence[float], ends: Sequence[float]) -> Iterator[tuple[float, int]]:
    """The instants at which the number of running requests changes, and the number from then on."""
    begun = over = 0
    while over < len(ends):
        if begun < len(starts) and starts[begun] < ends[over]:
            begun += 1
            yield starts[begun - 1], begun - over
        else:
            over += 1
            yield ends[over - 1], begun - over
