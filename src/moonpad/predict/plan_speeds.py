"""How fast the plans of an answer serve a workload: each at the load that was asked for, or at the best of growing
ones, and in the order of a goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from moonpad.engines.base import Engine
from moonpad.predict.calibrate import StepCalibration
from moonpad.predict.goals import (
    Limits,
    LoadPoint,
    SpeedGoal,
    SpeedVerdict,
    best_load,
    front_of,
    load_points,
    refined,
    verdict,
)
from moonpad.predict.prediction import predict
from moonpad.predict.serving_plan import ServingPlan, serving_plan
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.errors import PreflightRefused
from moonpad.values.plan import Layout
from moonpad.values.plan_answer import Answer
from moonpad.values.prediction import Prediction
from moonpad.values.workload import Workload

SIMULATED: Final = 8
"""Plans at the head of the order whose run is simulated; the steady state is calculated for all."""

CalibrationOf = Callable[[Configuration], StepCalibration | None]


@dataclass(frozen=True, slots=True)
class AskedLoad:
    """`workload` as it was asked for; with `growing`, no load was named, and its concurrency is 1."""

    workload: Workload
    text: str
    """As it was written: `chat`, `8192:1024`."""
    growing: bool = False
    limits: Limits = field(default_factory=dict)
    goal: SpeedGoal = "latency"
    usd_per_device_hour: float | None = None


@dataclass(frozen=True, slots=True)
class PlanSpeed:
    """Of one plan. `prediction` None: `because` says why. `simulated`: not the steady state in closed form."""

    prediction: Prediction | None
    because: str = ""
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class SpeedAnswer:
    """`plans` in the order of the answer's choices; `front` names them by their places."""

    asked: AskedLoad
    plans: tuple[PlanSpeed, ...]
    verdict: SpeedVerdict | None
    front: tuple[LoadPoint, ...]
    points: tuple[LoadPoint, ...] = ()
    """All loads of all plans, of which the front is made."""


def is_simulated(workload: Workload) -> bool:
    return 2 * (workload.concurrency or 1) <= workload.count


def no_calibration(configuration: Configuration) -> StepCalibration | None:
    return None


def with_speeds(
    answer: Answer,
    checkpoint: Checkpoint,
    cluster: Cluster,
    engines: Mapping[str, Engine],
    asked: AskedLoad,
    calibration_of: CalibrationOf = no_calibration,
    wanted: Layout | None = None,
) -> tuple[Answer, SpeedAnswer]:
    """The answer with its plans in the order of the goal (for `context` as they were), and their speeds. The first plan
    of a layout that is `wanted` stands before all others."""
    asked_for = next((at for at, choice in enumerate(answer.choices) if choice.plan.layout == wanted), None)
    plans = [serving_plan(choice, checkpoint, cluster, engines) for choice in answer.choices]
    predictor = _Predictor(plans, calibration_of)
    points = list(
        load_points(((place, predictor.of(place)) for place in range(len(plans))), replace(asked.workload, seed=0))
    )
    loads: dict[int, Workload] = {}
    quick: dict[int, Prediction] = {}
    for place in range(len(plans)):
        own = [point for point in points if point.plan == place]
        if asked.growing and own:
            more = refined(own, predictor.of(place), asked.goal, asked.limits)
            points += more
            own += more
            quick[place] = best_load(own, asked.goal, asked.limits).prediction
        elif not asked.growing and (steady := predictor.of(place)(asked.workload)) is not None:
            quick[place] = steady
        if place in quick:
            loads[place] = quick[place].workload
    last = {place: int(choice.confidence == "tight") for place, choice in enumerate(answer.choices)}
    found = verdict(quick, asked.goal, asked.limits, last, asked_for) if quick else None
    if asked.goal == "context":
        order = [place for place in range(len(plans)) if place in quick]
    else:
        order = list(found.order) if found else []
    simulated = {}
    for place in order[:SIMULATED]:
        if (exact := predictor.exact(place, loads[place])) is not None:
            simulated[place] = exact
    if simulated and asked.goal != "context":
        found = verdict(simulated, asked.goal, asked.limits, last, asked_for)
        order = [*found.order, *(place for place in order if place not in simulated)]
    order += [place for place in range(len(plans)) if place not in order]
    new = {place: at for at, place in enumerate(order)}
    speeds = tuple(
        PlanSpeed(simulated.get(place, quick.get(place)), predictor.problems.get(place, ""), place in simulated)
        for place in order
    )
    moved = tuple(replace(point, plan=new[point.plan]) for point in points)
    if found is not None:
        rival = None if found.rival is None else new[found.rival]
        found = replace(found, order=tuple(new[place] for place in found.order), rival=rival)
    if asked.goal == "context":
        found = None
    return (
        replace(answer, choices=tuple(answer.choices[place] for place in order)),
        SpeedAnswer(asked, speeds, found, front_of(moved, asked.limits), moved),
    )


@dataclass(slots=True)
class _Predictor:
    plans: list[ServingPlan]
    calibration_of: CalibrationOf
    problems: dict[int, str] = field(default_factory=dict)

    def of(self, place: int) -> Callable[[Workload], Prediction | None]:
        calibration = self.calibration_of(self.plans[place].configuration)

        def of_load(workload: Workload) -> Prediction | None:
            return self._try(place, workload, calibration, quick=True)

        return of_load

    def exact(self, place: int, workload: Workload) -> Prediction | None:
        """None too where a simulated run would be too short: it has to turn over its clients."""
        if not is_simulated(workload):
            return None
        return self._try(place, workload, self.calibration_of(self.plans[place].configuration), quick=False)

    def _try(
        self, place: int, workload: Workload, calibration: StepCalibration | None, *, quick: bool
    ) -> Prediction | None:
        plan = self.plans[place]
        if problem := _too_long(plan, workload):
            self.problems[place] = problem
            return None
        try:
            return predict(plan, workload, calibration=calibration, quick=quick)
        except PreflightRefused as refused:
            self.problems[place] = refused.message
            return None


def _too_long(plan: ServingPlan, workload: Workload) -> str:
    """A request beyond the plan's context is refused by every engine; nothing is said of how fast it would be."""
    context = plan.configuration.settings.max_model_len
    longest = int(workload.input.longest + workload.output.longest)
    if context is not None and longest > context:
        return f"a request of {longest:,} tokens is longer than its context of {context:,}"
    return ""
