"""What a run measured, and the JSON that scripts read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, NamedTuple

import moonpad
from moonpad.bench.config import BenchConfig
from moonpad.bench.device_watch import DeviceStats
from moonpad.bench.metrics import Metrics
from moonpad.bench.server_watch import ServerStats
from moonpad.load.arrivals import offered_rate
from moonpad.load.client_error import ClientError
from moonpad.load.prompt_calibration import PromptCalibration
from moonpad.load.record import RequestRecord
from moonpad.load.request_builder import Api
from moonpad.stats.percentiles import Distribution
from moonpad.values.estimate import Planned

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
    of the run, `client_lag_s` how late its loop was at P99. `client_error` is None where it was not measured or the run
    was interrupted.
    """

    config: BenchConfig
    base_url: str
    model: str
    began: str  # wall clock, for people
    calibration: PromptCalibration
    records: Sequence[RequestRecord]
    metrics: Metrics
    client_cpu: float
    partial: bool
    client_lag_s: float = 0.0
    workers: int = 1
    client_error: ClientError | None = None
    server: ServerStats = field(default_factory=ServerStats)
    devices: DeviceStats = field(default_factory=DeviceStats)
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
    rows = [_RequestRow.of(record) for record in result.records]  # gone through once: they may be read from a file
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
        "latencies": [row.e2el_s for row in rows],
        "queue_times": [row.queued_s for row in rows],
        "max_output_tokens_per_s": metrics.peak_output_throughput,
        "max_concurrent_requests": metrics.peak_concurrency,
        "rtfx": 0.0,
        **_milliseconds("ttft", metrics.ttft_s),
        **_milliseconds("tpot", metrics.tpot_s),
        **_milliseconds("itl", metrics.itl_s),
        **_milliseconds("e2el", metrics.e2el_s),
        "moonpad": _ours(result, rows),
    }


class _RequestRow(NamedTuple):
    """`e2el_s` is None where the request failed; the tokens are those requested."""

    e2el_s: float | None
    queued_s: float
    input_tokens: int
    output_tokens: int

    @classmethod
    def of(cls, record: RequestRecord) -> _RequestRow:
        e2el_s = record.e2el_s if record.ok else None
        return cls(e2el_s, record.queued_s, record.requested_input_tokens, record.requested_output_tokens)


def _milliseconds(name: str, values: Distribution | None) -> dict[str, float | None]:
    if values is None:
        return dict.fromkeys((f"mean_{name}_ms", f"median_{name}_ms", f"std_{name}_ms", f"p99_{name}_ms"))
    return {
        f"mean_{name}_ms": values.mean * 1000,
        f"median_{name}_ms": values.median * 1000,
        f"std_{name}_ms": values.std * 1000,
        **{f"p{p:g}_{name}_ms": value * 1000 for p, value in values.percentiles},
    }


def _ours(result: BenchResult, rows: Sequence[_RequestRow]) -> dict[str, Any]:
    metrics, config = result.metrics, result.config
    good = [row for row in rows if row.e2el_s is not None]
    return {
        "schema": SCHEMA,
        "version": moonpad.__version__,
        "base_url": result.base_url,
        "partial": result.partial,
        "finished_requests": len(result.records),
        "seed": config.seed,
        "workload": {**asdict(config.workload), "said": config.workload.description},
        "warmup": config.warmup,
        "ignore_eos": config.ignore_eos,
        "temperature": config.temperature,
        "failures": dict(metrics.failures),
        "failed_output_chunks": metrics.failed_output_chunks,
        "input_tokens": {
            "requested": config.requested_input,
            "mean": _mean(metrics.input_tokens, metrics.completed),
            "counted_by_usage": metrics.input_tokens_counted,
            "requested_mean": _mean(sum(row.input_tokens for row in good), len(good)),
            "words": result.calibration.words,
            "calibrated_by": result.calibration.judge,
            "exact": bool(result.calibration.weights),
        },
        "output_tokens": {
            "requested": config.requested_output,
            "mean": _mean(metrics.output_tokens, metrics.completed),
            "requested_mean": _mean(sum(row.output_tokens for row in good), len(good)),
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
            "error": result.client_error.as_json() if result.client_error else None,
            **_milliseconds("slip", metrics.slip_s),
        },
        **_milliseconds("queued", metrics.queued_s),
        "server": result.server.as_json(),
        "devices": result.devices.as_json(),
        "planned": {figure.name: figure.as_json() for figure in result.planned},
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


def _mean(total: int, count: int) -> float | None:
    return total / count if count else None
