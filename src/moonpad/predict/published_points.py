"""Results that others published as points: what they say of a plan on the same kind of device, weights and engine."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from moonpad.catalog.clusters import parse_cluster
from moonpad.catalog.models import find_model
from moonpad.catalog.published import published
from moonpad.catalog.step_constants import StepConstants
from moonpad.engines import ENGINES
from moonpad.plan.tensors import catalog_checkpoint
from moonpad.predict.calibrate import StepCalibration, calibrate
from moonpad.predict.cost import StepCost
from moonpad.predict.figures import steady_figures
from moonpad.predict.measured_point import MeasuredPoint, same_load
from moonpad.predict.serving_plan import ServingPlan
from moonpad.values.configuration import Configuration
from moonpad.values.errors import MoonpadError
from moonpad.values.plan import Settings
from moonpad.values.plan_answer import Published
from moonpad.values.prediction import PredictionStanding
from moonpad.values.records import replace
from moonpad.values.workload import Lengths, Workload

_LENGTHS: Final = re.compile(r"(\d+) tokens in, (\d+) out")
LONGEST_WAIT_MS: Final = 5000
"""A longer mean time to first token is a queue, and says nothing of the engine."""


def corrected_by_others(
    plan: ServingPlan, workload: Workload, base: StepConstants, *, fitted: bool
) -> StepCalibration | None:
    """None where nothing was published that fits. `fitted`: the constants are of this device and these weights
    already, so that only the very same load says more."""
    configuration = plan.configuration
    every = _every_point(configuration.engine.name)
    near = [place for place, point in enumerate(every) if _same_kind(point, configuration)]
    exact = tuple(place for place in near if same_load([every[place]], plan, workload))
    chosen = exact or (() if fitted else tuple(near))
    return _calibrated(configuration.engine.name, chosen, base, bool(exact)) if chosen else None


@lru_cache(maxsize=64)
def _calibrated(engine: str, places: tuple[int, ...], base: StepConstants, exact: bool) -> StepCalibration:
    standing: PredictionStanding = "measured by others at this point" if exact else "interpolated"
    points = [_every_point(engine)[place] for place in places]
    calibration = calibrate(points, base=base, predictor=_steady_seconds, standing=standing)
    return replace(calibration, source="published results of this device")


def _steady_seconds(point: MeasuredPoint, constants: StepConstants) -> tuple[float, float]:
    figures = steady_figures(point.plan, point.workload, StepCost(point.plan, constants, point.workload.acceptance))
    return figures.tpot_s, figures.ttft_s


def _same_kind(point: MeasuredPoint, configuration: Configuration) -> bool:
    theirs = point.plan.configuration
    return theirs.device.id == configuration.device.id and theirs.scheme == configuration.scheme


@lru_cache(maxsize=16)
def _every_point(engine: str) -> tuple[MeasuredPoint, ...]:
    return tuple(point for row in published() if row.engine == engine and (point := _point_of(row)) is not None)


def _point_of(row: Published) -> MeasuredPoint | None:
    figures, lengths, model = dict(row.figures), _LENGTHS.search(row.title), find_model(row.model)
    if lengths is None or model is None or row.engine not in ENGINES or "mean_tpot_ms" not in figures:
        return None
    if figures.get("mean_ttft_ms", 0.0) > LONGEST_WAIT_MS:
        return None
    clients, rate = figures.get("max_concurrency"), figures.get("request_rate")
    if clients is None and (rate is None or rate > 1000):
        return None
    try:
        configuration = Configuration(
            catalog_checkpoint(model),
            parse_cluster(row.cluster),
            ENGINES[row.engine].facts,
            row.engine_version,
            row.layout,
            Settings(),
        )
    except MoonpadError:
        return None
    workload = Workload(
        Lengths.fixed(int(lengths[1])),
        Lengths.fixed(int(lengths[2])),
        concurrency=None if clients is None else round(clients),
        rate_per_s=rate if clients is None else None,
    )
    return MeasuredPoint(
        ServingPlan(configuration), workload, figures["mean_tpot_ms"] / 1e3, figures["mean_ttft_ms"] / 1e3, "mean"
    )
