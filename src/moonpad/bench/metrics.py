"""From the records of a run to its figures, by the definitions of `vllm bench serve` 0.32.

Failed requests count as failed and are in no other figure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from moonpad.bench.slo import NO_LIMITS, Slo
from moonpad.load.record import RequestRecord
from moonpad.stats.percentiles import Distribution, describe


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


def metrics_of(records: Sequence[RequestRecord], duration_s: float, slo: Slo = NO_LIMITS) -> Metrics:
    """`duration_s` is from the run's zero to the end of its last request."""
    good = [record for record in records if record.ok]
    bad = [record.failure for record in records if record.failure is not None]
    peak_output_throughput, peak_concurrency = _peaks(good)
    return Metrics(
        completed=len(good),
        failed=len(bad),
        failures=dict(Counter(failure.label for failure in bad).most_common()),
        duration_s=duration_s,
        input_tokens=sum(_input_tokens(record) for record in good),
        output_tokens=sum(record.output_tokens for record in good),
        failed_output_chunks=sum(len(record.token_times_s) for record in records if not record.ok),
        input_tokens_counted=sum(record.prompt_tokens is not None for record in good),
        output_tokens_counted=sum(record.output_tokens_from == "usage" for record in good),
        usage_below_chunks=sum(record.output_tokens < len(record.token_times_s) for record in good),
        peak_output_throughput=peak_output_throughput,
        peak_concurrency=peak_concurrency,
        ttft_s=describe(record.ttft_s for record in good if record.ttft_s is not None),
        answer_ttft_s=describe(record.answer_ttft_s for record in good if record.answer_ttft_s is not None),
        tpot_s=describe(record.tpot_s for record in good if record.tpot_s is not None),
        itl_s=describe(gap for record in good for gap in record.itl_s),
        mean_itl_s=describe(math.fsum(gaps) / len(gaps) for record in good if (gaps := record.itl_s)),
        e2el_s=describe(record.e2el_s for record in good),
        slip_s=describe(record.slip_s for record in good),
        queued_s=describe(record.queued_s for record in good),
        good=sum(slo.keeps(record) for record in good) if slo.given else None,
    )


def _input_tokens(record: RequestRecord) -> int:
    return record.requested_input_tokens if record.prompt_tokens is None else record.prompt_tokens


def _peaks(records: Sequence[RequestRecord]) -> tuple[float, int]:
    """Token chunks, and requests in flight, of the busiest whole second since the first request was sent."""
    if not records:
        return 0.0, 0
    zero_s = min(record.started_s for record in records)
    chunks: Counter[int] = Counter()
    running: Counter[int] = Counter()
    for record in records:
        chunks.update(math.floor(time_s - zero_s) for time_s in record.token_times_s)
        running.update(range(math.floor(record.started_s - zero_s), math.floor(record.ended_s - zero_s) + 1))
    return float(max(chunks.values(), default=0)), max(running.values())
