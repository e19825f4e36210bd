"""How far a prediction may be off, by what it rests on: factors from leave-one-group-out residuals."""

from __future__ import annotations

from typing import Final, Literal

from moonpad.catalog.step_constants import Spread, spreads
from moonpad.values.estimate import Estimate
from moonpad.values.prediction import PredictionStanding

Metric = Literal["tpot", "ttft"]

REASONS: Final[dict[PredictionStanding, str]] = {
    "measured here": "this very load was measured here",
    "measured by others at this point": "others measured this load on this device",
    "calibrated here": "constants corrected by loads that were measured here",
    "interpolated": "constants fitted to published results of this device and these weights",
    "from the data sheet": "constants fitted to other devices, rates of the data sheet",
}


def spread_of(metric: Metric, standing: PredictionStanding) -> Spread:
    return spreads()[f"{metric} {standing}"]


def ranged(value: float, metric: Metric, standing: PredictionStanding) -> Estimate:
    """80 % of what is measured lies within."""
    spread = spread_of(metric, standing)
    return Estimate(value, value * spread.low, value * spread.high, REASONS[standing])


def rate_of(value: float, seconds: Estimate, because: str) -> Estimate:
    """A rate as far off as the time that it is proportional to the inverse of."""
    if not seconds.value or not seconds.low:
        return Estimate.exact(value, because)
    return Estimate(value, value * seconds.value / seconds.high, value * seconds.value / seconds.low, because)
