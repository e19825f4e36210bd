"""The plan of a spec with a prefill and a decode pool: each as a deployment of its own, then the two together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from moonpad.facts.probe import Unknown
from moonpad.plan.from_spec import finished
from moonpad.plan.judgement import forgive
from moonpad.plan.pools_from_spec import PoolPart, as_pool, pair_findings, part_of
from moonpad.run.planning import PlannedSpec, cluster_of, plan_checkpoint, spec_checkpoint
from moonpad.spec.loader import LoadedSpec
from moonpad.spec.schema import Spec
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, errors_of
from moonpad.values.pools import POOL_ROLES, PoolRole
from moonpad.values.records import replace


@dataclass(frozen=True, slots=True)
class PlannedPools:
    """`findings` are those of the pair, and of each pool under its name."""

    pools: Mapping[PoolRole, PlannedSpec]
    parts: Mapping[PoolRole, PoolPart]
    findings: tuple[Finding, ...]


def plan_pools(loaded: LoadedSpec, *, despite: frozenset[Code] = frozenset()) -> PlannedPools:
    """
    Raises:
        PreflightRefused: one of the pools, or the pair, cannot work; with the findings.
        CheckpointError: the checkpoint is not the one that the spec asks for.
        SpecError: the pools do not use the machines that there are.
        UsageError: the spec asks for what no router here can do.
    """
    spec = loaded.spec
    checkpoint, of_checkpoint = spec_checkpoint(loaded, despite=despite)
    parts = parts_of(spec)
    pools = {role: _planned(loaded, part, checkpoint, despite) for role, part in parts.items()}
    together: tuple[Finding, ...] = ()
    if not isinstance(checkpoint, Unknown):
        plans = {role: planned.plan for role, planned in pools.items()}
        together = forgive(pair_findings(spec, plans, parts, checkpoint), despite)
    if errors := errors_of(together):
        raise PreflightRefused("the two pools do not fit each other", findings=errors)
    own = (_named(role, finding) for role, planned in pools.items() for finding in planned.findings)
    return PlannedPools(pools, parts, (*of_checkpoint, *together, *own))


def parts_of(spec: Spec, whole: Cluster | None = None) -> dict[PoolRole, PoolPart]:
    """`whole`: the machines of both; by default those of the spec, else machines like this one, as many as it says.

    Raises as `plan_pools`.
    """
    if whole is None:
        whole = cluster_of(spec)
        if spec.hardware.cluster is None and spec.prefill and spec.decode:
            whole = replace(whole, nodes=spec.prefill.nodes + spec.decode.nodes)
    return {role: part_of(spec, role, whole) for role in POOL_ROLES}


def _planned(
    loaded: LoadedSpec, part: PoolPart, checkpoint: Checkpoint | Unknown, despite: frozenset[Code]
) -> PlannedSpec:
    alone = replace(loaded, spec=part.spec)
    try:
        return plan_checkpoint(
            alone,
            checkpoint,
            (),
            part.cluster,
            part.spec.engine.version or "",
            lambda plan: as_pool(finished(part.spec, plan), part),
            despite,
        )
    except PreflightRefused as refused:
        findings = tuple(_named(part.transfer.role, finding) for finding in refused.findings)
        raise PreflightRefused(f"{part.transfer.role}: {refused.message}", findings=findings) from None


def _named(role: PoolRole, finding: Finding) -> Finding:
    return replace(finding, where=f"{role}: {finding.where}")
