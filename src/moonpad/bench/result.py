"""What a run measured, and the JSON that scripts read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import moonpad
from moonpad.bench.cached_prompts import cached_prompts
from moonpad.bench.config import BenchConfig
from moonpad.bench.metrics import Metrics
from moonpad.bench.run_header import RunPlan
from moonpad.bench.telemetry import DeviceStats, ServerStats
from moonpad.load.arrivals import offered_rate
from moonpad.load.client_error import ClientError
from moonpad.load.record import RequestRecord
from moonpad.load.request_builder import Api
from moonpad.stats.percentiles import Distribution
from moonpad.values.records import as_dict

# Above this share of one core, or this lateness, the client may be slower than the server, and its latencies are no
# longer the server's.
CLIENT_BOUND_CPU: Final = 0.7
CLIENT_BOUND_LATE_S: Final = 0.010
CLIENT_ERROR_SHARE: Final = 0.05
"""Of the mean TTFT: a client that sees first tokens 20 ms late still measures 2 s."""
CLIENT_ERROR_ITL: Final = 1.25
SCHEMA: Final = 1
BACKENDS: Final[dict[Api, str]] = {"chat": "openai-chat", "completions": "openai"}
"""As `vllm bench serve` calls them."""


@dataclass(frozen=True, slots=True)
class BenchResult:
    """`records` are in the order of their requests. `partial` means interrupted: requests that were in flight
    have no record. `client_cpu` is the CPU seconds of the client, or of the busiest of its processes, for each second
    of the run, `client_lag_s` how late its loop was at P99. `client_error` is None where it was not measured or the run
    was interrupted.
    """

    plan: RunPlan
    began: str  # wall clock
    records: Sequence[RequestRecord]
    metrics: Metrics
    client_cpu: float
    partial: bool
    client_lag_s: float = 0.0
    workers: int = 1
    client_error: ClientError | None = None
    server: ServerStats = field(default_factory=ServerStats)
    devices: DeviceStats = field(default_factory=DeviceStats)

    @property
    def offered_rate(self) -> float | None:
        """Requests a second that the drawn instants give, from the first arrival to the last of those that ended."""
        return offered_rate(sorted(record.scheduled_s for record in self.records))

    @property
    def client_bound_by(self) -> tuple[str, ...]:
        """Why the latencies may be the client's own; empty where it kept up."""
        slip_s = self.metrics.slip_s.percentile(99.0) if self.metrics.slip_s else 0.0
        reasons = []
        if self.client_cpu > CLIENT_BOUND_CPU:
            reasons.append(f"it used {self.client_cpu:.0%} of a core")
        if self.client_lag_s > CLIENT_BOUND_LATE_S:
            reasons.append(f"its event loop was {1000 * self.client_lag_s:.0f} ms late at P99")
        if slip_s > CLIENT_BOUND_LATE_S:
            reasons.append(f"it sent requests {1000 * slip_s:.0f} ms late at P99")
        if (error := self.client_error) is not None:
            ttft_s = self.metrics.ttft_s.mean if self.metrics.ttft_s else 0.0
            if error.ttft_s > max(CLIENT_BOUND_LATE_S, CLIENT_ERROR_SHARE * ttft_s):
                reasons.append(f"it sees first tokens of a known server {1000 * error.ttft_s:.0f} ms late")
            if error.itl_p99_ratio > CLIENT_ERROR_ITL:
                reasons.append(f"it sees the P99 ITL of a known server as {error.itl_p99_ratio:.2f} times the truth")
        return tuple(reasons)


def as_json(result: BenchResult) -> dict[str, Any]:
    """The keys and units of `vllm bench serve --save-result` (0.32), and ours under `moonpad`.

    A figure that cannot be had is null, and so is the latency of a failed request.
    """
    metrics, config = result.metrics, result.plan.config
    # Gone through once: they may be read from a file.
    latencies = [(record.e2el_s if record.ok else None, record.queued_s) for record in result.records]
    return {
        "date": result.began,
        "endpoint_type": BACKENDS[config.api],
        "backend": BACKENDS[config.api],
        "label": "moonpad",
        "model_id": result.plan.model,
        "tokenizer_id": None,
        "num_prompts": config.requests,
        "request_rate": _rate(config),
        "burstiness": config.arrivals.burstiness if config.arrivals else 1.0,
        "max_concurrency": config.concurrency,
        "duration": metrics.duration_s,
        "completed": metrics.completed,
        "failed": metrics.failed,
        "total_input_tokens": metrics.input_tokens,
        "total_output_tokens": metrics.output_tokens,
        "request_throughput": metrics.request_throughput,
        "request_goodput": metrics.goodput,
        "output_throughput": metrics.output_throughput,
        "total_token_throughput": metrics.total_throughput,
        "latencies": [e2el_s for e2el_s, _ in latencies],
        "queue_times": [queued_s for _, queued_s in latencies],
        "max_output_tokens_per_s": metrics.peak_output_throughput,
        "max_concurrent_requests": metrics.peak_concurrency,
        "rtfx": 0.0,
        **_milliseconds("ttft", metrics.ttft_s),
        **_milliseconds("tpot", metrics.tpot_s),
        **_milliseconds("itl", metrics.itl_s),
        **_milliseconds("e2el", metrics.e2el_s),
        "moonpad": _ours(result),
    }


def _milliseconds(name: str, values: Distribution | None) -> dict[str, float | None]:
    if values is None:
        return {f"{statistic}_{name}_ms": None for statistic in ("mean", "median", "std", "p99")}
    figures = {"mean": values.mean, "median": values.median, "std": values.std}
    figures |= {f"p{p:g}": value_s for p, value_s in values.percentiles}
    return {f"{statistic}_{name}_ms": value_s * 1000 for statistic, value_s in figures.items()}


def _ours(result: BenchResult) -> dict[str, Any]:
    metrics, config = result.metrics, result.plan.config
    return {
        "schema": SCHEMA,
        "version": moonpad.__version__,
        "base_url": result.plan.base_url,
        "partial": result.partial,
        "finished_requests": len(result.records),
        "seed": config.seed,
        "workload": {**as_dict(config.workload), "said": config.workload.description},
        "warmup": config.warmup,
        "ignore_eos": config.ignore_eos,
        "temperature": config.temperature,
        "failures": dict(metrics.failures),
        "failed_output_chunks": metrics.failed_output_chunks,
        "input_tokens": {
            "requested": config.requested_input,
            "mean": _mean(metrics.input_tokens, metrics.completed),
            "counted_by_usage": metrics.input_tokens_counted,
            "requested_mean": _mean(metrics.requested_input_tokens, metrics.completed),
            "words": result.plan.calibration.words,
            "calibrated_by": result.plan.calibration.judge,
            "exact": bool(result.plan.calibration.weights),
        },
        "output_tokens": {
            "requested": config.requested_output,
            "mean": _mean(metrics.output_tokens, metrics.completed),
            "requested_mean": _mean(metrics.requested_output_tokens, metrics.completed),
            "counted_by_usage": metrics.output_tokens_counted,
            "usage_below_chunks": metrics.usage_below_chunks,
        },
        **_milliseconds("answer_ttft", metrics.answer_ttft_s),
        **_milliseconds("mean_itl", metrics.mean_itl_s),
        "arrivals": {
            "kind": config.arrivals.kind if config.arrivals else "trace",
            "rate": _rate(config),
            "offered": result.offered_rate,
        }
        if config.paced
        else None,
        "steady": as_dict(metrics.steady) if metrics.steady else None,
        "intervals": {
            f"{name}_ms": [low_s * 1000, high_s * 1000] for name, (low_s, high_s) in metrics.intervals.items()
        },
        "slo": {**config.slo.as_json(), "good": metrics.good} if config.slo.given else None,
        "client": {
            "cpu": result.client_cpu,
            "workers": result.workers,
            "p99_lag_ms": 1000 * result.client_lag_s,
            "client_bound": bool(result.client_bound_by),
            "client_bound_by": list(result.client_bound_by),
            "error": result.client_error.as_json() if result.client_error else None,
            **_milliseconds("slip", metrics.slip_s),
        },
        **_milliseconds("queued", metrics.queued_s),
        "server": result.server.as_json(),
        "cached_prompts": cached_prompts(config, result.server),
        "devices": result.devices.as_json(),
        "planned": {figure.name: figure.as_json() for figure in result.plan.planned},
    }


def _rate(config: BenchConfig) -> float | str:
    """vLLM's word for a closed loop, and for all at once, is "inf"."""
    rate = config.arrivals.rate if config.arrivals else math.inf
    return "inf" if math.isinf(rate) else rate


def _mean(total: int, count: int) -> float | None:
    return total / count if count else None
