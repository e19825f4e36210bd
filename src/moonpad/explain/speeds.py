"""How fast a deployment that was read serves a load, beside what is better: other settings, and the best layout of the
same engine on the same devices."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from moonpad.engines import ENGINES
from moonpad.explain.results import Better, Judged
from moonpad.plan.request import Request, parse_set
from moonpad.plan.search import Known, search
from moonpad.predict.calibrate import StepCalibration
from moonpad.predict.goals import SpeedGoal, gain_over, missed, worth
from moonpad.predict.plan_speeds import AskedLoad, is_simulated, with_speeds
from moonpad.predict.prediction import predict
from moonpad.predict.serving_plan import ServingPlan
from moonpad.values.configuration import Configuration
from moonpad.values.errors import MoonpadError, PreflightRefused
from moonpad.values.estimate import Estimate
from moonpad.values.memory import Memory
from moonpad.values.plan import Plan
from moonpad.values.prediction import Prediction
from moonpad.values.records import replace

CalibrationOf = Callable[[Configuration], StepCalibration | None]


class BetterSpeed(Struct, frozen=True):
    """Of a suggestion, or of another layout (`plan`). `gain` over what was read, by the goal; it is claimed where its
    low end is above 0."""

    prediction: Prediction
    gain: Estimate
    keeps_limits: bool
    better: Better | None = None
    plan: Plan | None = None

    @property
    def claimed(self) -> bool:
        return self.gain.low > 0


class DeploymentSpeed(Struct, frozen=True):
    """`prediction` None: `because` says why."""

    prediction: Prediction | None
    because: str = ""
    better: tuple[BetterSpeed, ...] = ()


def speed_of(judged: Judged, asked: AskedLoad, known: Known, calibration_of: CalibrationOf) -> DeploymentSpeed:
    """Of a deployment whose model, devices and layout are known."""
    if judged.kind != "serve" or judged.checkpoint is None or judged.cluster is None or judged.layout is None:
        return DeploymentSpeed(None, judged.unjudged or "the model, the devices or the layout is not known")
    if judged.memory is None or judged.settings is None or judged.unknown:
        return DeploymentSpeed(None, judged.unjudged or "not all of its layout and limits are known")
    if not judged.memory.fits:
        return DeploymentSpeed(None, "it does not fit")
    configuration = Configuration(
        judged.checkpoint,
        judged.cluster,
        ENGINES[judged.engine].facts,
        judged.version,
        judged.layout,
        judged.settings,
    )
    try:
        own = _predicted(configuration, judged.memory, asked, calibration_of)
    except PreflightRefused as refused:
        return DeploymentSpeed(None, refused.message)
    found: list[BetterSpeed] = []
    for better in judged.better:
        changed = _changed(configuration, better)
        try:
            prediction = _predicted(changed, better.memory, asked, calibration_of)
        except PreflightRefused:
            continue
        found.append(_beside(own, prediction, asked, better=better))
    if (other := _best_layout(judged, asked, known, calibration_of)) is not None:
        plan, prediction = other
        beside = _beside(own, prediction, asked, plan=plan)
        if plan.layout != judged.layout and beside.gain.value > 0:
            found.append(beside)
    return DeploymentSpeed(own, better=tuple(found))


def _predicted(
    configuration: Configuration, memory: Memory, asked: AskedLoad, calibration_of: CalibrationOf
) -> Prediction:
    plan = ServingPlan(configuration, memory)
    quick = not is_simulated(asked.workload)
    return predict(plan, asked.workload, calibration=calibration_of(configuration), quick=quick)


def _changed(configuration: Configuration, better: Better) -> Configuration:
    layout, settings = parse_set(f"{name}={'true' if value is None else value}" for name, value in better.changes)
    return configuration.with_layout(**layout).with_settings(**settings)


def _beside(
    own: Prediction, other: Prediction, asked: AskedLoad, *, better: Better | None = None, plan: Plan | None = None
) -> BetterSpeed:
    goal: SpeedGoal = asked.goal
    gain = gain_over(worth(other, goal), worth(own, goal))
    return BetterSpeed(other, gain, missed(other, asked.limits) <= 1, better, plan)


def _best_layout(
    judged: Judged, asked: AskedLoad, known: Known, calibration_of: CalibrationOf
) -> tuple[Plan, Prediction] | None:
    """Over all devices of the cluster, by the same release."""
    if judged.checkpoint is None or judged.cluster is None:
        return None
    request = Request(
        engine=judged.engine,
        engine_version=judged.version,
        context=judged.settings.max_model_len if judged.settings else None,
    )
    try:
        answer = search(judged.checkpoint, judged.cluster, request, known)
    except MoonpadError:
        return None
    answer, speeds = with_speeds(
        answer, judged.checkpoint, judged.cluster, ENGINES, replace(asked, growing=False), calibration_of
    )
    if not answer.choices or (prediction := speeds.plans[0].prediction) is None:
        return None
    return answer.choices[0].plan, prediction
