"""The block that `vllm bench serve` 0.32 prints, and beneath it what it leaves out."""

from __future__ import annotations

import math
from typing import Final

from moonpad.bench.result import BenchResult
from moonpad.bench.steady import Steady
from moonpad.stats.percentiles import Distribution

WIDTH: Final = 50


def bench_block(result: BenchResult) -> str:
    """Labels, order and widths as there. A figure that cannot be had is «not reported», where vLLM prints 0.00."""
    metrics, config = result.metrics, result.config
    rate = config.arrivals.rate if config.arrivals else math.inf
    lines = [
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


def bench_notes(result: BenchResult) -> tuple[str, ...]:
    """What a reader must know before believing the block: lengths, who counted, failures, the client's own load."""
    metrics, config = result.metrics, result.config
    notes = []
    if result.partial:
        notes.append(f"partial: interrupted after {len(result.records)} of {config.requests} requests")
    if metrics.completed:
        notes.append(_lengths(result))
        notes += _counting(result)
    if metrics.steady:
        notes.append(_steady(metrics.steady))
    if metrics.failures:
        kinds = ", ".join(f"{count} × {kind}" for kind, count in metrics.failures.items())
        first = next(record.failure for record in result.records if record.failure)
        notes.append(f"failed: {kinds}; the first one said: {first.text[:200]}")
    if metrics.answer_ttft_s and metrics.ttft_s and metrics.answer_ttft_s.median > metrics.ttft_s.median:
        notes.append(
            f"first token of the answer, after the thinking: median {metrics.answer_ttft_s.median * 1000:.2f} ms "
            f"({metrics.answer_ttft_s.count} of {metrics.completed} requests reached one)"
        )
    if config.paced:
        notes.append(_offered(result))
    notes += [line for line in (_server(result), _devices(result)) if line]
    notes.append(_client(result))
    return tuple(notes)


def _section(title: str, name: str, values: Distribution | None) -> list[str]:
    figures = (values.mean, values.median, values.percentile(99.0)) if values else (None, None, None)
    labels = (f"{statistic} {name} (ms):" for statistic in ("Mean", "Median", "P99"))
    rows = (_row(label, value_s and value_s * 1000) for label, value_s in zip(labels, figures, strict=True))
    return [f"{title:-^{WIDTH}}", *rows]


def _row(label: str, value: float | None) -> str:
    text = f"{value:.2f}" if isinstance(value, float) else "not reported" if value is None else str(value)
    return f"{label:<40} {text:<10}"


def _lengths(result: BenchResult) -> str:
    metrics, config = result.metrics, result.config
    input_mean, output_mean = metrics.input_tokens / metrics.completed, metrics.output_tokens / metrics.completed
    return (
        f"tokens a request, asked and actual: input {config.said_input} and {input_mean:.1f}, "
        f"output {config.said_output} and {output_mean:.1f}"
    )


def _steady(steady: Steady) -> str:
    return (
        f"steady from {steady.from_s:.1f} s to {steady.to_s:.1f} s, without the run's two ends: "
        f"{steady.output_throughput:.2f} output tokens a second"
    )


def _counting(result: BenchResult) -> list[str]:
    metrics = result.metrics
    notes = []
    if uncounted := metrics.completed - metrics.output_tokens_counted:
        notes.append(f"{uncounted} answers came without usage: their output tokens are counted as chunks")
    if uncounted := metrics.completed - metrics.input_tokens_counted:
        notes.append(f"{uncounted} answers came without usage: their input tokens are those that were asked for")
    if metrics.usage_below_chunks:
        notes.append(f"{metrics.usage_below_chunks} answers have fewer tokens in usage than chunks that carried some")
    return notes


def _offered(result: BenchResult) -> str:
    offered, queued = result.offered_rate, result.metrics.queued_s
    rate = "offered: all at once" if offered is None else f"offered: {offered:.2f} requests a second"
    if queued is None or result.config.concurrency is None:
        return rate
    return f"{rate}; waited for a slot: p99 {queued.percentile(99.0) * 1000:.2f} ms, which is in the latencies"


def _server(result: BenchResult) -> str:
    """ "" where it said nothing of itself."""
    said = result.server
    if not said.samples:
        return ""
    parts = [
        f"{name} {usual:g}, at most {most:g}"
        for name in ("running", "waiting")
        if (usual := said.usual(name)) is not None and (most := said.most(name)) is not None
    ]
    if (full := said.most("kv_usage")) is not None:
        parts.append(f"KV cache at most {full:.0%}")
    if preempted := said.grown("preemptions"):
        parts.append(f"{preempted:g} preemptions")
    if (hits := said.prefix_hit_rate) is not None:
        parts.append(f"prefix hits {hits:.0%}")
    return f"server: {', '.join(parts)}"


def _devices(result: BenchResult) -> str:
    found = result.devices.as_json()
    if not found["samples"]:
        return ""
    power, busy = found["power_w"], found["busy"]
    parts = [f"{power['mean']:.0f} W"] if power else []
    parts += [f"busy {busy['mean']:.0%} of the time"] if busy else []
    return f"{found['count']} device{'s' if found['count'] > 1 else ''}: {', '.join(parts)}"


def _client(result: BenchResult) -> str:
    slip = f"p99 {result.metrics.slip_s.percentile(99.0) * 1000:.2f} ms" if result.metrics.slip_s else "not reported"
    remedy = f"lower the load, or --workers {2 * result.workers}"
    bound = f"; client-bound: the latencies may be the client's own: {remedy}" if result.client_bound else ""
    who = "one core" if result.workers == 1 else f"a core, the busiest of {result.workers} workers"
    lag = f"loop late by p99 {result.client_lag_s * 1000:.2f} ms"
    said = f"client: CPU {result.client_cpu:.0%} of {who}, sent late by {slip}, {lag}{bound}"
    found = result.self_error
    if found is None:
        return said
    return (
        f"{said}\nclient error: TTFT {found.ttft_s * 1000:+.2f} ms, at p99 {found.ttft_p99_s * 1000:+.2f} ms; "
        f"ITL p99 {found.itl_p99_ratio:.3f} of the truth (a server of known timing, {found.streams} streams of "
        f"{found.gap_s * 1000:.1f} ms)"
    )
