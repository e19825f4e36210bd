"""The speeds of a plan's answer, with what was calibrated on this machine."""

from __future__ import annotations

from moonpad.cli.named_inputs import Model
from moonpad.engines import ENGINES
from moonpad.plan.request import Request
from moonpad.predict.plan_speeds import AskedLoad, CalibrationOf, PlanSpeed, SpeedAnswer, is_simulated, with_speeds
from moonpad.predict.prediction import predict
from moonpad.predict.serving_plan import ServingPlan
from moonpad.run.knowledge import knowledge
from moonpad.store.speed_calibrations import calibration_for, own_speed_calibrations
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.errors import PreflightRefused
from moonpad.values.plan import Layout, Settings
from moonpad.values.plan_answer import Answer
from moonpad.values.records import replace


def speeds_of(
    answer: Answer, model: Model, cluster: Cluster, request: Request, asked: AskedLoad
) -> tuple[Answer, SpeedAnswer]:
    """What was fixed of the layout, and nothing else, comes first: `--set tp=8` asks for TP8 before TP8 DCP8."""
    wanted = Layout(**request.layout) if request.layout else None
    return with_speeds(answer, model.checkpoint, cluster, ENGINES, asked, own_calibrations_of(), wanted)


def own_calibrations_of() -> CalibrationOf:
    """What was measured here with the same device, engine, release and weights as a configuration's."""
    own = own_speed_calibrations()
    return lambda configuration: calibration_for(configuration, own)


def speed_of_refused(model: Model, cluster: Cluster, request: Request, asked: AskedLoad) -> PlanSpeed | None:
    """Of a layout that was asked for exactly, with one engine, and that moonpad refuses: how fast it would be if it
    could be served, with a KV cache that holds the load. Others have run what a rule or the memory model refuses."""
    engine = ENGINES.get(request.engine)
    if engine is None or request.layout.keys() != {"tp", "pp", "dp", "ep", "dcp"}:
        return None
    version = request.engine_version or knowledge().version_of(engine)
    settings = Settings().with_values({**request.settings, "max_model_len": None})
    configuration = Configuration(
        model.checkpoint, cluster, engine.facts, version, Layout(**request.layout), settings, request.draft
    )
    try:
        simulated = is_simulated(asked.workload)
        known = own_calibrations_of()(configuration)
        found = predict(ServingPlan(configuration), asked.workload, calibration=known, quick=not simulated)
    except (PreflightRefused, ValueError, ZeroDivisionError) as problem:
        return PlanSpeed(None, f"nothing can be predicted of it: {problem}")
    note = "moonpad refuses this layout: the figures are what it would give if it could be served"
    return PlanSpeed(replace(found, notes=(*found.notes, note)), simulated=simulated)
