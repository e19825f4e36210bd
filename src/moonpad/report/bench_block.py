"""The block that `vllm bench serve` 0.32 prints, and below it what that leaves out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from moonpad.bench.result import BenchResult
from moonpad.report.predicted_words import predicted_words
from moonpad.report.run_phrases import (
    client_bound_words,
    client_words,
    device_rows,
    lengths_words,
    server_rows,
    warnings,
)
from moonpad.stats.percentiles import Distribution

WIDTH: Final = 50


def bench_block(result: BenchResult, document: Mapping[str, Any]) -> str:
    """Labels, order and widths as there. A missing figure is «not reported», where vLLM prints 0.00.

    Above it stands whether the figures are the server's at all. `document` is the JSON of the result.
    """
    metrics, config = result.metrics, result.plan.config
    rate = config.arrivals.rate if config.arrivals else math.inf
    lines = [
        *([text] if (text := client_bound_words(document)) else []),
        f"{' Serving Benchmark Result ':=^{WIDTH}}",
        _row("Successful requests:", metrics.completed),
        _row("Failed requests:", metrics.failed),
        *([] if config.concurrency is None else [_row("Maximum request concurrency:", config.concurrency)]),
        *([_row("Request rate configured (RPS):", rate)] if math.isfinite(rate) else []),
        _row("Benchmark duration (s):", metrics.duration_s),
        _row("Total input tokens:", metrics.input_tokens),
        _row("Total generated tokens:", metrics.output_tokens),
        _row("Request throughput (req/s):", metrics.request_throughput),
        *([_row("Request goodput (req/s):", metrics.goodput)] if config.slo.given else []),
        _row("Output token throughput (tok/s):", metrics.output_throughput),
        _row("Peak output token throughput (tok/s):", metrics.peak_output_throughput),
        _row("Peak concurrent requests:", float(metrics.peak_concurrency)),
        _row("Total token throughput (tok/s):", metrics.total_throughput),
        *_section("Time to First Token", "TTFT", metrics.ttft_s),
        *_section("Time per Output Token (excl. 1st token)", "TPOT", metrics.tpot_s),
        *_section("Inter-token Latency", "ITL", metrics.itl_s),
        *_section("End-to-end Latency", "E2EL", metrics.e2el_s),
        "=" * WIDTH,
    ]
    return "\n".join(lines)


def _section(title: str, name: str, values: Distribution | None) -> list[str]:
    figures = (values.mean, values.median, values.percentile(99.0)) if values else (None, None, None)
    labels = (f"{statistic} {name} (ms):" for statistic in ("Mean", "Median", "P99"))
    rows = (_row(label, value_s and value_s * 1000) for label, value_s in zip(labels, figures, strict=True))
    return [f"{title:-^{WIDTH}}", *rows]


def _row(label: str, value: float | None) -> str:
    text = f"{value:.2f}" if isinstance(value, float) else "not reported" if value is None else str(value)
    return f"{label:<40} {text:<10}"


def bench_notes(result: BenchResult, document: Mapping[str, Any]) -> list[str]:
    """What a reader must know before trusting the block; `document` is the JSON of the result."""
    metrics, config = result.metrics, result.plan.config
    notes = [text for _, text in warnings(document) if text != client_bound_words(document)]
    if metrics.failures:
        kinds = ", ".join(f"{count} × {kind}" for kind, count in metrics.failures.items())
        first = next(record.failure for record in result.records if record.failure)
        notes.append(f"failed: {kinds}; first error: {first.text[:200]}")
    if resent := sum(record.resent for record in result.records):
        notes.append(f"{resent:,} requests were sent a second time: the server had closed the idle connection")
    if metrics.completed:
        notes += [lengths_words(document), *_counting(result)]
    if steady := metrics.steady:
        notes.append(
            f"steady from {steady.from_s:.1f} s to {steady.to_s:.1f} s, without ramp-up and drain: "
            f"{steady.output_throughput:.2f} output tokens a second"
        )
    if metrics.answer_ttft_s and metrics.ttft_s and metrics.answer_ttft_s.median > metrics.ttft_s.median:
        notes.append(
            f"first token of the answer, after the thinking: median {metrics.answer_ttft_s.median * 1000:.2f} ms "
            f"({metrics.answer_ttft_s.count} of {metrics.completed} requests reached one)"
        )
    if config.paced:
        notes.append(_offered(result))
    for title, rows in (("server", server_rows(document)), ("devices", device_rows(document))):
        if rows:
            notes.append(f"{title}: {'; '.join(f'{name} {figure}' for name, figure in rows)}")
    notes += predicted_words(document)
    return [*notes, client_words(document)]


def _counting(result: BenchResult) -> list[str]:
    metrics = result.metrics
    notes = []
    if uncounted := metrics.completed - metrics.output_tokens_counted:
        notes.append(f"{uncounted} answers came without usage: their output tokens are counted as chunks")
    if uncounted := metrics.completed - metrics.input_tokens_counted:
        notes.append(f"{uncounted} answers came without usage: their input tokens are the requested ones")
    if metrics.usage_below_chunks:
        notes.append(
            f"{metrics.usage_below_chunks} answers report fewer tokens in usage than chunks with tokens that arrived"
        )
    return notes


def _offered(result: BenchResult) -> str:
    offered, queued = result.offered_rate, result.metrics.queued_s
    rate = "offered: all at once" if offered is None else f"offered: {offered:.2f} requests a second"
    if queued is None or result.plan.config.concurrency is None:
        return rate
    return f"{rate}; wait for a slot at P99 {queued.percentile(99.0) * 1000:.2f} ms, included in the latencies"
