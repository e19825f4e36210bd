"""How fast a plan will serve a workload, with ranges, a standing, and where the time of a step goes."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from moonpad.values.estimate import Estimate
from moonpad.values.records import as_dict, field_names
from moonpad.values.workload import Workload

PredictionStanding = Literal[
    "measured here", "measured by others at this point", "calibrated here", "interpolated", "from the data sheet"
]
"""How sure a prediction is. `interpolated`: constants fitted to published results of this device and these weights."""


class StepBreakdown(Struct, frozen=True):
    """Where the seconds of one step go. All are of the slowest rank, over all pipeline stages."""

    experts: float = 0.0
    """Routed experts on the devices."""
    host_experts: float = 0.0
    """Routed experts, or whole layers, that the processors compute."""
    attention: float = 0.0
    """The KV cache and the products with it."""
    linear: float = 0.0
    """The matrices of attention, dense MLP, shared experts and router."""
    all_reduce: float = 0.0
    all_to_all: float = 0.0
    """Tokens to the ranks of their experts and back, and what decode context parallelism exchanges."""
    layer_latency: float = 0.0
    """What each layer takes beside its bytes and operations: launches, small kernels, waiting."""
    pipeline: float = 0.0
    """Activations from stage to stage."""
    head: float = 0.0
    draft: float = 0.0
    host: float = 0.0
    """Scheduler, sampling and output of the engine."""

    @property
    def total(self) -> float:
        return sum(float(seconds) for seconds in as_dict(self).values())

    @property
    def shares(self) -> tuple[tuple[str, float], ...]:
        """(name, share of the whole), largest first, without those that take nothing."""
        total = self.total or 1.0
        named = ((name, seconds / total) for name, seconds in as_dict(self).items())
        return tuple(sorted((each for each in named if each[1] > 0), key=lambda each: -each[1]))

    def as_json(self) -> dict[str, float]:
        return {f"{name}_s": seconds for name, seconds in as_dict(self).items()}


class Prediction(Struct, frozen=True):
    """Medians over requests where a name says no percentile. Rates are over the whole run; `*_per_device` over all
    devices of the plan, those of every replica and stage.
    """

    workload: Workload
    ttft_s: Estimate
    tpot_s: Estimate
    """Between one token and the next of an answer, its first one left out."""
    e2el_s: Estimate
    ttft_mean_s: Estimate
    ttft_p95_s: Estimate
    tpot_mean_s: Estimate
    tpot_p95_s: Estimate
    output_tokens_per_s: Estimate
    total_tokens_per_s: Estimate
    requests_per_s: Estimate
    output_tokens_per_s_per_user: Estimate
    """1 / TPOT."""
    output_tokens_per_s_per_device: Estimate
    standing: PredictionStanding
    step: StepBreakdown
    """Of a typical step of the workload that decodes."""
    saturated: bool = False
    """An open loop sends more than is served: the times to first token grow as long as the run lasts."""
    preemptions: int = 0
    notes: tuple[str, ...] = ()
    """What the model knows to be missing here."""

    def as_json(self) -> dict[str, Any]:
        named = {
            name: estimate.as_json()
            for name in field_names(type(self))
            if isinstance(estimate := getattr(self, name), Estimate)
        }
        return {
            **named,
            "standing": self.standing,
            "step": self.step.as_json(),
            "saturated": self.saturated,
            "preemptions": self.preemptions,
            "notes": list(self.notes),
        }
