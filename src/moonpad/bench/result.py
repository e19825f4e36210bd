"""What a run measured, and the JSON that scripts read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import moonpad
from moonpad.bench.config import BenchConfig
from moonpad.bench.device_watch import DevicesDid
from moonpad.bench.metrics import Metrics
from moonpad.bench.server_watch import ServerSaid
from moonpad.load.arrivals import offered_rate
from moonpad.load.asker import Api
from moonpad.load.calibrate import Calibration
from moonpad.load.record import RequestRecord
from moonpad.load.self_error import SelfError
from moonpad.stats.percentiles import Distribution
from moonpad.values.planned import Planned

# Above this share of one core, or this slip at p99 (of its requests, or of a timer of its own), the client may be
# slower than the server, and its latencies are no longer the server's.
CLIENT_BOUND_CPU: Final = 0.7
CLIENT_BOUND_SLIP_S: Final = 0.010
SCHEMA: Final = 1
BACKENDS: Final[dict[Api, str]] = {"chat": "openai-chat", "completions": "openai"}
"""As `vllm bench serve` calls them."""


@dataclass(frozen=True, slots=True)
class BenchResult:
    """`records` are in the order of their requests. `partial` means interrupted: requests that were in flight
    have no record. `client_cpu` is the CPU seconds of the client, or of the busiest of its processes, for each second
    of the run, `client_lag_s` how late its loop was at P99. `self_error` is None where nobody asked for it, or the run
    was interrupted.
    """

    config: BenchConfig
    base_url: str
    model: str
    began: str  # wall clock, for people
    calibration: Calibration
    records: Sequence[RequestRecord]
    metrics: Metrics
    client_cpu: float
    partial: bool
    client_lag_s: float = 0.0
    workers: int = 1
    self_error: SelfError | None = None
    server: ServerSaid = field(default_factory=ServerSaid)
    devices: DevicesDid = field(default_factory=DevicesDid)
    planned: tuple[Planned, ...] = ()

    @property
    def offered_rate(self) -> float | None:
        """Requests a second, between the first arrival and the last of those that ended."""
        return offered_rate(sorted(record.scheduled_s for record in self.records))

    @property
    def client_bound(self) -> bool:
        slip_s = self.metrics.slip_s
        slips = slip_s is not None and slip_s.percentile(99.0) > CLIENT_BOUND_SLIP_S
        slips = slips or self.client_lag_s > CLIENT_BOUND_SLIP_S
        return slips or self.client_cpu > CLIENT_BOUND_CPU


def as_json(result: BenchResult) -> dict[str, Any]:
    """The keys and units of `vllm bench serve --save-result` (0.32), and ours under `moonpad`.

    A figure that cannot be had is null, and so is the latency of a failed request.
    """
    metrics, config = result.metrics, result.config
    return {
        "date": result.began,
        "endpoint_type": BACKENDS[config.api],
        "backend": BACKENDS[config.api],
        "label": "moonpad",
        "model_id": result.model,
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
        "latencies": [record.e2el_s if record.ok else None for record in result.records],
        "queue_times": [record.queued_s for record in result.records],
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
        return dict.fromkeys((f"mean_{name}_ms", f"median_{name}_ms", f"std_{name}_ms", f"p99_{name}_ms"))
    return {
        f"mean_{name}_ms": values.mean * 1000,
        f"median_{name}_ms": values.median * 1000,
        f"std_{name}_ms": values.std * 1000,
        **{f"p{p:g}_{name}_ms": value * 1000 for p, value in values.percentiles},
    }


def _ours(result: BenchResult) -> dict[str, Any]:
    metrics, config = result.metrics, result.config
    return {
        "schema": SCHEMA,
        "version": moonpad.__version__,
        "base_url": result.base_url,
        "partial": result.partial,
        "finished_requests": len(result.records),
        "seed": config.seed,
        "workload": {**asdict(config.workload), "said": config.workload.said},
        "warmup": config.warmup,
        "ignore_eos": config.ignore_eos,
        "temperature": config.temperature,
        "failures": dict(metrics.failures),
        "failed_output_chunks": metrics.failed_output_chunks,
        "input_tokens": {
            "requested": config.said_input,
            "mean": _mean(metrics.input_tokens, metrics.completed),
            "counted_by_usage": metrics.input_tokens_counted,
            "requested_mean": _requested(result, "requested_input_tokens"),
            "words": result.calibration.words,
            "calibrated_by": result.calibration.judge,
            "exact": bool(result.calibration.weights),
        },
        "output_tokens": {
            "requested": config.said_output,
            "mean": _mean(metrics.output_tokens, metrics.completed),
            "requested_mean": _requested(result, "requested_output_tokens"),
            "counted_by_usage": metrics.output_tokens_counted,
            "usage_below_chunks": metrics.usage_below_chunks,
        },
        **_milliseconds("answer_ttft", metrics.answer_ttft_s),
        **_milliseconds("mean_itl", metrics.mean_itl_s),
        "arrivals": _arrivals(result),
        "steady": metrics.steady.as_json() if metrics.steady else None,
        "intervals": {
            f"{name}_ms": [low_s * 1000, high_s * 1000] for name, (low_s, high_s) in metrics.intervals.items()
        },
        "slo": {**config.slo.as_json(), "good": metrics.good} if config.slo.given else None,
        "client": {
            "cpu": result.client_cpu,
            "workers": result.workers,
            "p99_lag_ms": 1000 * result.client_lag_s,
            "client_bound": result.client_bound,
            "error": result.self_error.as_json() if result.self_error else None,
            **_milliseconds("slip", metrics.slip_s),
        },
        **_milliseconds("queued", metrics.queued_s),
        "server": result.server.as_json(),
        "devices": result.devices.as_json(),
        "planned": {one.name: one.as_json() for one in result.planned},
    }


def _rate(config: BenchConfig) -> float | str:
    """vLLM's word for a closed loop, and for all at once, is "inf"."""
    rate = config.arrivals.rate if config.arrivals else math.inf
    return "inf" if math.isinf(rate) else rate


def _arrivals(result: BenchResult) -> dict[str, Any] | None:
    """How an open loop's requests came; `offered` is what the drawn instants give, `rate` what was asked for."""
    arrivals = result.config.arrivals
    if not result.config.paced:
        return None
    return {
        "kind": arrivals.kind if arrivals else "trace",
        "rate": _rate(result.config),
        "offered": result.offered_rate,
    }


def _requested(result: BenchResult, name: str) -> float | None:
    good = [getattr(record, name) for record in result.records if record.ok]
    return _mean(sum(good), len(good))


def _mean(total: int, count: int) -> float | None:
    return total / count if count else None
