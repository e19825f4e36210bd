"""How far a prediction may be off, by what it rests on: factors from leave-one-group-out residuals."""

from __future__ import annotations

from typing import Final, Literal

from moonpad.catalog.step_constants import spreads
from moonpad.values.configuration import Configuration
from moonpad.values.estimate import Estimate
from moonpad.values.platform import Platform
from moonpad.values.prediction import PredictionStanding

Metric = Literal["tpot", "ttft"]
Kind = Literal["vllm", "other", "unfitted"]

REASONS: Final[dict[PredictionStanding, str]] = {
    "measured here": "this very load was measured here",
    "measured by others at this point": "others measured this load on this device",
    "calibrated here": "constants corrected by loads that were measured here",
    "interpolated": "constants fitted to published results of this device and these weights",
    "from the data sheet": "constants fitted to other devices, rates of the data sheet",
}


def kind_of(configuration: Configuration) -> Kind:
    """Which residuals tell how far a prediction may be off. `unfitted`: no point was of such devices, or of experts in
    host memory."""
    fitted = configuration.platform in (Platform.CUDA, Platform.ROCM)
    if not fitted or configuration.engine.host_experts:
        return "unfitted"
    return kind_of_engine(configuration.engine.name)


def kind_of_engine(name: str) -> Literal["vllm", "other"]:
    return "vllm" if name.startswith("vllm") else "other"


def ranged(value: float, metric: Metric, standing: PredictionStanding, kind: Kind) -> Estimate:
    """80 % of what is measured lies within."""
    spread = spreads()[f"{metric} {standing} {kind}"]
    return Estimate(value, value * spread.low, value * spread.high, REASONS[standing])


def rate_of(value: float, seconds: Estimate, because: str) -> Estimate:
    """A rate as far off as the time that it is proportional to the inverse of."""
    if not seconds.value or not seconds.low:
        return Estimate.exact(value, because)
    return Estimate(value, value * seconds.value / seconds.high, value * seconds.value / seconds.low, because)
