"""What is predicted: one plan with what it serves, where, and how much its KV cache holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from moonpad.engines.base import Engine
from moonpad.plan.layout_plan import Fit
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.memory import Memory
from moonpad.values.plan_answer import Choice


@dataclass(frozen=True, slots=True)
class ServingPlan:
    """`memory` None: the KV cache is taken to hold whatever is sent."""

    configuration: Configuration
    memory: Memory | None = None


def serving_plan(
    choice: Choice, checkpoint: Checkpoint, cluster: Cluster, engines: Mapping[str, Engine]
) -> ServingPlan:
    """Of a choice of the planner's answer."""
    plan, facts = choice.plan, engines[choice.plan.engine].facts
    configuration = Configuration(checkpoint, cluster, facts, plan.engine_version, plan.layout, plan.settings)
    return ServingPlan(configuration, choice.memory)


def serving_plan_of(plan: ServingPlan | Fit) -> ServingPlan:
    if isinstance(plan, ServingPlan):
        return plan
    chosen = plan.choice.plan
    return ServingPlan(plan.candidate.configuration(chosen.layout, chosen.settings), plan.choice.memory)
