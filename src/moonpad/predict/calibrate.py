"""Constants corrected by measured points: the likeliest factors, given how far constants usually are off.

Each factor is log-normal around 1 before anything is measured; each point's log error is normal. The maximum of both
together is figures by Gauss-Newton steps. One point therefore moves every factor a little, and many tell them apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from moonpad.catalog.step_constants import Corrections, StepConstants, step_constants
from moonpad.predict.corrections import corrected, known_constants
from moonpad.predict.cost import StepCost
from moonpad.predict.figures import simulated_figures
from moonpad.predict.measured_point import MeasuredPoint as MeasuredPoint
from moonpad.values.platform import Platform
from moonpad.values.prediction import PredictionStanding

BEFORE: Final = {"memory": 0.15, "compute": 0.3, "fixed": 0.25, "sequences": 0.3, "request": 0.7}
"""Standard deviation of the logarithm of each factor."""
OF_PROCESSORS: Final = {"prefill": 0.4, "decode": 0.4, "experts": 0.4}
"""More factors, where a processor computes: of a device these kernels are known better than the points."""
ON_PROCESSOR: Final = 4.0
"""So much wider where processors compute, of whose speed nothing but the number of cores is known."""
NOISE: Final = {"tpot": 0.04, "ttft": 0.15}
"""The same of a point: what the model cannot explain."""
ROUNDS: Final = 12
TRIED: Final = 60
STARTS: Final = 4
"""A thorough search begins at so many of what was tried first, the best of them."""
MOVES: Final = (0.5, 0.25, 0.12, 0.06, 0.03)
"""Of the logarithm of one factor, where a run's own jumps hide from slopes which way is better."""
STEP: Final = 0.02
FARTHEST: Final = 4.0
"""No factor is larger than e to this: a processor's speed may be off by a lot."""


@dataclass(frozen=True, slots=True)
class StepCalibration:
    """For one device, engine, release and quantisation. `points`: what it was made of."""

    corrections: Corrections
    points: tuple[MeasuredPoint, ...] = ()
    standing: PredictionStanding = "calibrated here"
    source: str = "measured here"

    def constants(self, base: StepConstants) -> StepConstants:
        """`base`: what the corrections were made for (`known_constants`)."""
        return corrected(base, self.corrections)


Predictor = Callable[[MeasuredPoint, StepConstants], tuple[float, float]]
"""(TPOT, TTFT) in seconds of a point with other constants."""


def calibrate(
    points: Sequence[MeasuredPoint],
    *,
    base: StepConstants | None = None,
    predictor: Predictor | None = None,
    standing: PredictionStanding = "calibrated here",
    before: dict[str, float] | None = None,
    thorough: bool = False,
) -> StepCalibration:
    """Pure: the same points give the same corrections. Without points nothing is corrected. `thorough`: seconds in
    place of milliseconds.

    `base` None: what is known of the first point's device and weights, on top of which `predict` takes a calibration.
    """
    constants = base
    if constants is None:
        constants = known_constants(points[0].plan.configuration) if points else step_constants()
    rough = any(point.plan.configuration.platform is Platform.CPU for point in points)
    known = BEFORE | OF_PROCESSORS if rough else BEFORE
    widths = {name: width * (ON_PROCESSOR if rough else 1.0) for name, width in known.items()} | (before or {})
    logs = [0.0] * len(widths)
    residuals = _Residuals(points, constants, predictor or point_seconds, widths)
    if points:
        error = residuals.of(logs)
        logs, error = _descended(residuals, logs, error)
        for start in _starts(residuals) if thorough else ():
            found = _descended(residuals, *_searched(residuals, *start))
            logs, error = min((logs, error), found, key=lambda each: _dot(each[1], each[1]))
    factors = dict(zip(widths, map(math.exp, logs), strict=True))
    return StepCalibration(Corrections(**factors), tuple(points), standing)


@dataclass(frozen=True, slots=True)
class _Residuals:
    """Each over its standard deviation: those of the points, then those of the factors themselves."""

    points: Sequence[MeasuredPoint]
    constants: StepConstants
    predictor: Predictor
    widths: dict[str, float]

    def of(self, logs: Sequence[float]) -> list[float]:
        factors = Corrections(**dict(zip(self.widths, map(math.exp, logs), strict=True)))
        constants = corrected(self.constants, factors)
        rows = []
        for point in self.points:
            tpot_s, ttft_s = self.predictor(point, constants)
            if point.tpot_s and tpot_s:
                rows.append(softened(math.log(tpot_s / point.tpot_s) / NOISE["tpot"]))
            if point.ttft_s and ttft_s:
                rows.append(softened(math.log(ttft_s / point.ttft_s) / NOISE["ttft"]))
        return [*rows, *(log / self.widths[name] for name, log in zip(self.widths, logs, strict=True))]


def _descended(residuals: _Residuals, logs: list[float], error: list[float]) -> tuple[list[float], list[float]]:
    for _ in range(ROUNDS):
        following = _improved(residuals, logs, error)
        if following is None:
            break
        logs, error = following
    return logs, error


def _starts(residuals: _Residuals) -> list[tuple[list[float], list[float]]]:
    """The best of factors drawn as they are believed to be: a run of a scheduler has several valleys."""
    random = Random(0)  # noqa: S311
    drawn = ([random.gauss(0.0, width) for width in residuals.widths.values()] for _ in range(TRIED))
    tried = [(logs, residuals.of(logs)) for logs in drawn]
    return sorted(tried, key=lambda each: _dot(each[1], each[1]))[:STARTS]


def _searched(residuals: _Residuals, logs: list[float], error: list[float]) -> tuple[list[float], list[float]]:
    """By trying each factor up and down, in ever smaller moves: a run of a scheduler jumps where one more prompt fits
    into a step, and a slope does not see beyond that."""
    best = _dot(error, error)
    for move in MOVES:
        improved = True
        while improved:
            improved = False
            for place in range(len(logs)):
                for change in (move, -move):
                    moved = [*logs]
                    moved[place] = max(-FARTHEST, min(FARTHEST, moved[place] + change))
                    after = residuals.of(moved)
                    if (found := _dot(after, after)) < best * (1 - 1e-4):
                        logs, error, best, improved = moved, after, found, True
                        break
    return logs, error


def _improved(residuals: _Residuals, logs: list[float], error: list[float]) -> tuple[list[float], list[float]] | None:
    columns = []
    for place in range(len(logs)):
        moved = [*logs]
        moved[place] += STEP
        columns.append([(after - now) / STEP for after, now in zip(residuals.of(moved), error, strict=True)])
    normal = [[_dot(left, right) for right in columns] for left in columns]
    wanted = _solved(normal, [-_dot(column, error) for column in columns])
    for shrink in (1.0, 0.5, 0.2, 0.05):
        moved = [max(-FARTHEST, min(FARTHEST, log + shrink * change)) for log, change in zip(logs, wanted, strict=True)]
        after = residuals.of(moved)
        if _dot(after, after) < _dot(error, error) * (1 - 1e-4):
            return moved, after
    return None


def point_seconds(point: MeasuredPoint, constants: StepConstants) -> tuple[float, float]:
    """(TPOT, TTFT) of a point with these constants, by a simulated run."""
    cost = StepCost(point.plan, constants, point.workload.acceptance)
    figures = simulated_figures(point.plan, point.workload, cost)
    return (figures.tpot_mean_s, figures.ttft_mean_s) if point.statistic == "mean" else (figures.tpot_s, figures.ttft_s)


def softened(error: float, scale: float = 2.0) -> float:
    """Its square grows like that of the error near 0 and in proportion to the error far away (soft L1): one run that
    went wrong does not decide."""
    grown = math.sqrt(2 * (math.sqrt(1 + (error / scale) ** 2) - 1)) * scale
    return math.copysign(grown, error)


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(one * other for one, other in zip(left, right, strict=True))


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gaussian elimination; the matrix is positive definite, as the widths of the factors are finite."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for place in range(size):
        pivot = rows[place]
        for lower in range(place + 1, size):
            factor = rows[lower][place] / pivot[place]
            rows[lower] = [value - factor * above for value, above in zip(rows[lower], pivot, strict=True)]
    solution = [0.0] * size
    for place in reversed(range(size)):
        rest = sum(rows[place][other] * solution[other] for other in range(place + 1, size))
        solution[place] = (rows[place][size] - rest) / rows[place][place]
    return solution
