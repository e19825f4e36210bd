"""One load that was measured on one plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from moonpad.plan.nearest_results import short
from moonpad.predict.serving_plan import ServingPlan
from moonpad.values.workload import Workload

ALIKE: Final = 0.03
"""Loads whose mean lengths differ by less count as the same."""


@dataclass(frozen=True, slots=True)
class MeasuredPoint:
    """One load on one plan. None: not measured."""

    plan: ServingPlan
    workload: Workload
    tpot_s: float | None = None
    ttft_s: float | None = None
    statistic: Literal["median", "mean"] = "median"
    """Over the requests of the run."""


def same_load(points: Iterable[MeasuredPoint], plan: ServingPlan, workload: Workload) -> MeasuredPoint | None:
    """The last of the points that is this very load, on as many devices in the same layout."""
    return next((point for point in reversed([*points]) if _is_same(point, plan, workload)), None)


def _is_same(point: MeasuredPoint, plan: ServingPlan, workload: Workload) -> bool:
    theirs, ours, other = point.plan.configuration, plan.configuration, point.workload
    return (
        short(theirs.checkpoint.name) == short(ours.checkpoint.name)
        and (theirs.device.id, theirs.engine.name) == (ours.device.id, ours.engine.name)
        and theirs.cluster.devices == ours.cluster.devices
        and theirs.layout == ours.layout
        and (other.concurrency, other.rate_per_s) == (workload.concurrency, workload.rate_per_s)
        and abs(other.input.mean / workload.input.mean - 1) < ALIKE
        and abs(other.output.mean / workload.output.mean - 1) < ALIKE
        and other.shared_prefix == workload.shared_prefix
    )
