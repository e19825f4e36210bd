"""How fast the plans of an answer serve a workload: each at the load that was asked for, or at the best of growing
ones, and in the order of a goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
from moonpad.values.plan_answer import Answer, TradeRow
from moonpad.values.prediction import Prediction
from moonpad.values.records import replace
from moonpad.values.workload import Workload

SIMULATED: Final = 8
"""Plans at the head of the order whose run is simulated; the steady state is calculated for all."""

TRADED: Final = ("max_num_seqs", "max_num_batched_tokens", "enforce_eager")
"""The settings in which the rows of a trade differ."""

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
    settings: tuple[PlanSpeed, ...] = ()
    """Of the first plan with the settings of each row of its trade."""


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
    points, steady = _at_each_load(predictor, asked)
    last = {place: int(choice.confidence == "tight") for place, choice in enumerate(answer.choices)}
    found = verdict(steady, asked.goal, asked.limits, last, asked_for) if steady else None
    order = list(found.order) if found and asked.goal != "context" else sorted(steady)
    simulated = {}
    for place in order[:SIMULATED]:
        if (exact := predictor.exact(place, steady[place].workload)) is not None:
            simulated[place] = exact
    if simulated and asked.goal != "context":
        found = verdict(simulated, asked.goal, asked.limits, last, asked_for)
        order = [*found.order, *(place for place in order if place not in simulated)]
    order += [place for place in range(len(plans)) if place not in order]
    speeds = tuple(
        PlanSpeed(simulated.get(place, steady.get(place)), predictor.problems.get(place, ""), place in simulated)
        for place in order
    )
    new = {place: at for at, place in enumerate(order)}
    moved = tuple(replace(point, plan=new[point.plan]) for point in points)
    choices = tuple(answer.choices[place] for place in order)
    settings: tuple[PlanSpeed, ...] = ()
    if speeds and (first := speeds[0].prediction) is not None:
        settings = predictor.with_settings(order[0], choices[0].trade, first.workload)
    renumbered = None if found is None or asked.goal == "context" else _renumbered(found, new)
    front = front_of(moved, asked.limits)
    return replace(answer, choices=choices), SpeedAnswer(asked, speeds, renumbered, front, moved, settings)


def _at_each_load(predictor: _Predictor, asked: AskedLoad) -> tuple[list[LoadPoint], dict[int, Prediction]]:
    """All plans at growing loads, and by its place each one at the load that was asked for, or at its best."""
    places = range(len(predictor.plans))
    points = list(load_points(((place, predictor.of(place)) for place in places), asked.workload))
    steady: dict[int, Prediction] = {}
    for place in places:
        if not asked.growing:
            if (prediction := predictor.of(place)(asked.workload)) is not None:
                steady[place] = prediction
        elif own := [point for point in points if point.plan == place]:
            more = refined(own, predictor.of(place), asked.goal, asked.limits)
            points += more
            steady[place] = best_load([*own, *more], asked.goal, asked.limits).prediction
    return points, steady


def _renumbered(found: SpeedVerdict, new: Mapping[int, int]) -> SpeedVerdict:
    rival = None if found.rival is None else new[found.rival]
    return replace(found, order=tuple(new[place] for place in found.order), rival=rival)


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

    def with_settings(self, place: int, trade: Sequence[TradeRow], workload: Workload) -> tuple[PlanSpeed, ...]:
        """Of the same layout with the settings of each row, and the KV cache that they leave."""
        plan = self.plans[place]
        calibration, quick = self.calibration_of(plan.configuration), not is_simulated(workload)
        speeds = []
        for row in trade:
            settings = {name: getattr(row, name) for name in TRADED}
            memory = None if plan.memory is None else replace(plan.memory, kv_tokens=row.kv_tokens)
            other = ServingPlan(plan.configuration.with_settings(**settings), memory)
            try:
                found = predict(other, workload, calibration=calibration, quick=quick)
            except PreflightRefused as refused:
                speeds.append(PlanSpeed(None, refused.message))
            else:
                speeds.append(PlanSpeed(found, simulated=not quick))
        return tuple(speeds)

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
