"""Servers that compute prompts beside servers that decode: what a load sees of both together.

Requests go round: prefill, transfer, decode. In a closed loop as many are in the one pool as lets both answer at the
same rate. Each pool is taken alone, with its own scheduler: prefill as answers of one token, decode as prompts whose
KV cache is there. The transfer takes as long as to send the cache once over the prefill servers' network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from moonpad.predict.calibrate import StepCalibration
from moonpad.predict.prediction import predict
from moonpad.predict.ranges import rate_of
from moonpad.predict.serving_plan import ServingPlan
from moonpad.predict.stage_shape import kv_bytes_per_layer
from moonpad.values.errors import PreflightRefused
from moonpad.values.estimate import Estimate
from moonpad.values.prediction import Prediction
from moonpad.values.workload import Lengths, Workload

ROUNDS: Final = 30
NEARLY_ALL: Final = 0.9999
"""Of a prompt that came over from the prefill pool."""


@dataclass(frozen=True, slots=True)
class Pool:
    """So many servers of one plan."""

    plan: ServingPlan
    servers: int = 1

    @property
    def devices(self) -> int:
        return self.servers * self.plan.configuration.layout.world_size


Calibrations = Callable[[ServingPlan], StepCalibration | None]


def predict_pools(prefill: Pool, decode: Pool, workload: Workload, calibrations: Calibrations) -> Prediction:
    """
    Raises:
        PreflightRefused: a request does not fit the KV cache of one of them, or the rate is more than one can take.
    """
    both = _Pools(prefill, decode, workload, calibrations)
    if workload.rate_per_s is not None:
        first, rest = both.first(rate=workload.rate_per_s), both.rest(rate=workload.rate_per_s)
    else:
        first, rest = both.balanced(workload.concurrency or 1)
    return _joined(both, first, rest)


@dataclass(frozen=True, slots=True)
class _Pools:
    prefill: Pool
    decode: Pool
    workload: Workload
    calibrations: Calibrations

    def first(self, *, clients: float = 1.0, rate: float | None = None) -> Prediction:
        asked = replace(self.workload, output=Lengths.fixed(1))
        return self._of(self.prefill, asked, clients, rate)

    def rest(self, *, clients: float = 1.0, rate: float | None = None) -> Prediction:
        asked = replace(self.workload, shared_prefix=NEARLY_ALL)
        return self._of(self.decode, asked, clients, rate)

    def _of(self, pool: Pool, asked: Workload, clients: float, rate: float | None) -> Prediction:
        each = max(1, round(clients / pool.servers))
        load = replace(
            asked,
            concurrency=each if rate is None else None,
            rate_per_s=None if rate is None else rate / pool.servers,
            requests=None,
        )
        return predict(pool.plan, load, calibration=self.calibrations(pool.plan), quick=True)

    def balanced(self, clients: int) -> tuple[Prediction, Prediction]:
        """By how many of the clients are in prefill: bisected until both pools answer at the same rate."""
        low, high = 0.0, float(clients)
        first, rest = self.first(clients=1), self.rest(clients=clients)
        for _ in range(ROUNDS):
            middle = (low + high) / 2
            first, rest = self.first(clients=max(middle, 1.0)), self.rest(clients=max(clients - middle, 1.0))
            # Fewer than one client is in prefill for that share of the time.
            served = first.requests_per_s.value * self.prefill.servers * min(1.0, max(middle, 1e-6))
            if served > rest.requests_per_s.value * self.decode.servers:
                high = middle
            else:
                low = middle
            if high - low < 0.25:
                break
        return first, rest

    @property
    def transfer_s(self) -> float:
        configuration = self.prefill.plan.configuration
        device = configuration.device
        rate = (device.network_bits_per_s or 200e9) / 8
        size = self.workload.input.mean * kv_bytes_per_layer(configuration) * configuration.architecture.layers
        return size / (rate * max(1, configuration.layout.tp))

    @property
    def devices(self) -> int:
        return self.prefill.devices + self.decode.devices


def _joined(both: _Pools, first: Prediction, rest: Prediction) -> Prediction:
    if first.saturated or rest.saturated:
        which = "prefill" if first.saturated else "decode"
        message = f"the {which} servers do not keep up with the rate"
        raise PreflightRefused(message, remedy="add servers, or ask for less")
    workload, tpot = both.workload, rest.tpot_s
    ttft = _plus(first.ttft_s, both.transfer_s)
    rest_s = tpot.times(workload.output.mean - 1)
    e2el = Estimate(ttft.value + rest_s.value, ttft.low + rest_s.low, ttft.high + rest_s.high, tpot.because)
    rate = workload.rate_per_s
    if rate is None:
        rate = (workload.concurrency or 1) / (ttft.value + tpot.value * (workload.output.mean - 1))
    output, prompt = workload.output.mean, workload.input.mean
    weakest = max((first, rest), key=lambda found: found.tpot_s.high / max(found.tpot_s.value, 1e-12))
    return replace(
        rest,
        workload=workload,
        ttft_s=ttft,
        tpot_s=tpot,
        e2el_s=e2el,
        ttft_mean_s=_plus(first.ttft_mean_s, both.transfer_s),
        ttft_p95_s=_plus(first.ttft_p95_s, both.transfer_s),
        requests_per_s=rate_of(rate, tpot, tpot.because),
        output_tokens_per_s=rate_of(rate * output, tpot, tpot.because),
        total_tokens_per_s=rate_of(rate * (output + prompt), tpot, tpot.because),
        output_tokens_per_s_per_device=rate_of(rate * output / both.devices, tpot, tpot.because),
        standing=weakest.standing,
        notes=(*rest.notes, "two pools: the steady state of each, and a transfer at the network's rate"),
    )


def _plus(estimate: Estimate, seconds: float) -> Estimate:
    return Estimate(estimate.value + seconds, estimate.low + seconds, estimate.high + seconds, estimate.because)
