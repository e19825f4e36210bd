"""What the plan of a spec lets expect of a load that `moonpad bench` sends."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from moonpad.bench.config import BenchConfig
from moonpad.cli.load_options import distribution_of
from moonpad.cli.plan_speed import own_calibrations_of
from moonpad.engines import ENGINES
from moonpad.facts.probe import Unknown
from moonpad.predict.prediction import predict
from moonpad.predict.serving_plan import serving_plan
from moonpad.run.planning import PlannedSpec, plan_spec
from moonpad.spec.loader import load_spec
from moonpad.values.errors import MoonpadError
from moonpad.values.estimate import Estimate, Planned
from moonpad.values.workload import Workload

PREDICTED = frozenset({"random"})
"""Datasets whose lengths are known before they are sent."""


Predictor = Callable[[BenchConfig], tuple[Planned, ...]]


def predictor_of(spec: Path) -> Predictor:
    """What a load is expected to show: nothing where the spec cannot be planned on this machine."""
    try:
        return planned_predictor(plan_spec(load_spec(spec)))
    except MoonpadError:
        return _nothing


def _nothing(config: BenchConfig) -> tuple[Planned, ...]:
    return ()


def planned_predictor(planned: PlannedSpec) -> Predictor:
    """The same of a spec that is planned."""
    if planned.choice is None or isinstance(planned.checkpoint, Unknown):
        return _nothing
    try:
        plan = serving_plan(planned.choice, planned.checkpoint, planned.cluster, ENGINES)
    except MoonpadError:
        return _nothing
    calibration = own_calibrations_of()(plan.configuration)

    def predicted(config: BenchConfig) -> tuple[Planned, ...]:
        workload = workload_of(config)
        if workload is None:
            return ()
        try:
            found = predict(plan, workload, calibration=calibration)
        except MoonpadError:
            return ()
        because = f"{found.standing}; {found.tpot_s.because}"
        times = {"median_ttft_ms": found.ttft_s, "median_tpot_ms": found.tpot_s}
        figures = [Planned(name, _as(estimate.times(1e3), because)) for name, estimate in times.items()]
        if config.ignore_eos:
            figures.append(Planned("output_throughput", _as(found.output_tokens_per_s, because)))
        return tuple(figures)

    return predicted


def workload_of(config: BenchConfig) -> Workload | None:
    """None where its lengths depend on what is answered or on a file."""
    if config.workload.kind not in PREDICTED or config.workload.prefix_tokens or config.output_tokens is None:
        return None
    rate = config.arrivals.rate if config.arrivals else None
    return Workload(
        distribution_of(config.input_lengths),
        distribution_of(config.output_lengths),
        concurrency=config.concurrency or (config.requests if rate is None or math.isinf(rate) else None),
        rate_per_s=None if rate is None or math.isinf(rate) else rate,
        requests=config.requests,
        chat=config.api == "chat",
    )


def _as(estimate: Estimate, because: str) -> Estimate:
    return Estimate(estimate.value, estimate.low, estimate.high, because)
