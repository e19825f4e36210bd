"""How fast a plan serves a workload: the constants that apply, a run of the scheduler, and how sure the result is."""

from __future__ import annotations

import math
from collections.abc import Iterator

from moonpad.catalog.step_constants import StepConstants
from moonpad.plan.layout_plan import Fit
from moonpad.predict.calibrate import StepCalibration
from moonpad.predict.corrections import group_of, known_constants
from moonpad.predict.cost import StepCost
from moonpad.predict.figures import Figures, meeting, simulated_figures, steady_figures
from moonpad.predict.measured_point import same_load
from moonpad.predict.published_points import corrected_by_others
from moonpad.predict.ranges import REASONS, Kind, kind_of, ranged, rate_of
from moonpad.predict.serving_plan import ServingPlan, serving_plan_of
from moonpad.values.configuration import Configuration
from moonpad.values.estimate import Estimate
from moonpad.values.prediction import Prediction, PredictionStanding
from moonpad.values.workload import Workload


def predict(
    plan: ServingPlan | Fit,
    workload: Workload,
    *,
    calibration: StepCalibration | None = None,
    quick: bool = False,
    by_others: bool = True,
) -> Prediction:
    """With the constants of the catalogue for the plan's device and weights, or those of a calibration. `quick`: the
    steady state in closed form instead of a simulated run. `by_others`: published results of the same device and
    weights correct the constants where there is no calibration.

    Raises:
        PreflightRefused: a request does not fit the KV cache, or memory cannot be planned.
    """
    serving = serving_plan_of(plan)
    constants, standing, because = constants_for(serving.configuration, calibration)
    measured = None if calibration is None else same_load(calibration.points, serving, workload)
    if measured is not None:
        standing, because = "measured here", REASONS["measured here"]
    elif calibration is None and by_others:
        fitted = standing == "interpolated"
        theirs = corrected_by_others(serving, workload, constants, fitted=fitted)
        if theirs is not None:
            constants, standing = theirs.constants(constants), theirs.standing
            because = f"{REASONS[standing]} ({theirs.source})"
            measured = same_load(theirs.points, serving, workload)
    cost = StepCost(serving, constants, workload.acceptance)
    figures = (steady_figures if quick else simulated_figures)(serving, workload, cost)
    if measured is not None:
        figures = meeting(figures, measured, workload)
    devices = serving.configuration.layout.world_size
    return prediction_of(workload, figures, cost, devices, standing, because, kind_of(serving.configuration))


def prediction_of(
    workload: Workload,
    figures: Figures,
    cost: StepCost,
    devices: int,
    standing: PredictionStanding,
    because: str,
    kind: Kind,
) -> Prediction:
    """With its ranges."""
    ttft, tpot = ranged(figures.ttft_s, "ttft", standing, kind), ranged(figures.tpot_s, "tpot", standing, kind)
    each = tpot if figures.tpot_s else ttft
    devices = max(1, devices)

    def rate(value: float) -> Estimate:
        """As far off as the steps are; an open loop that keeps up serves what it is sent."""
        served = workload.open_loop and not figures.saturated
        return Estimate.exact(value, "what is sent is served") if served else rate_of(value, each, because)

    return Prediction(
        workload=workload,
        ttft_s=ttft,
        tpot_s=tpot,
        e2el_s=_sum(ttft, tpot.times(max(0.0, workload.output.mean - 1)), figures.e2el_s, because),
        ttft_mean_s=ranged(figures.ttft_mean_s, "ttft", standing, kind),
        ttft_p95_s=ranged(figures.ttft_p95_s, "ttft", standing, kind),
        tpot_mean_s=ranged(figures.tpot_mean_s, "tpot", standing, kind),
        tpot_p95_s=ranged(figures.tpot_p95_s, "tpot", standing, kind),
        output_tokens_per_s=rate(figures.output_tokens_per_s),
        total_tokens_per_s=rate(figures.total_tokens_per_s),
        requests_per_s=rate(figures.requests_per_s),
        output_tokens_per_s_per_user=rate_of(1 / figures.tpot_s if figures.tpot_s else 0.0, each, because),
        output_tokens_per_s_per_device=rate(figures.output_tokens_per_s / devices),
        standing=standing,
        step=cost.breakdown(max(figures.decodes, 1.0), max(figures.context, 1.0), 0.0, 0.0, 0),
        saturated=figures.saturated,
        preemptions=figures.preemptions,
        notes=(*cost.rates.notes, *_notes(workload, cost, standing, kind)),
    )


def _notes(workload: Workload, cost: StepCost, standing: PredictionStanding, kind: Kind) -> Iterator[str]:
    if cost.draft_tokens and workload.acceptance is None:
        yield f"of a draft's tokens {cost.constants.acceptance:.0%} are taken to be accepted, one by one"
    if kind == "unfitted" and standing == "from the data sheet":
        yield "no speed of such devices was fitted: a few measured loads (`calibrate`) say far more"


def constants_for(
    configuration: Configuration, calibration: StepCalibration | None = None
) -> tuple[StepConstants, PredictionStanding, str]:
    """A calibration is on top of what is known of the device and the weights already, as `calibrate` makes it."""
    base, group = known_constants(configuration), group_of(configuration)
    standing: PredictionStanding = "from the data sheet" if group is None else "interpolated"
    because = REASONS[standing] if group is None else f"{REASONS[standing]} ({group.points} points)"
    if calibration is None:
        return base, standing, because
    return calibration.constants(base), calibration.standing, f"{REASONS[calibration.standing]}: {calibration.source}"


def _sum(first: Estimate, rest: Estimate, value: float, because: str) -> Estimate:
    """Ranges are taken to be independent: their squares add up."""
    down = math.hypot(first.value - first.low, rest.value - rest.low)
    up = math.hypot(first.high - first.value, rest.high - rest.value)
    return Estimate(value, max(0.0, value - down), value + up, because)
