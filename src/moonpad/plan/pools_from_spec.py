"""The two pools of a spec: each as a spec of its own, and what they are together. Pure."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from moonpad.engines import ENGINES
from moonpad.plan.rules.pools import check_pools
from moonpad.spec.pool_tables import PoolTable
from moonpad.spec.schema import Spec
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.configuration import Configuration
from moonpad.values.errors import SpecError, UsageError
from moonpad.values.finding import Finding
from moonpad.values.plan import Plan, Transfer
from moonpad.values.pools import POOL_ROLES, Pool, PoolFacts, PoolPair, PoolRole
from moonpad.values.records import replace

PORTS_BEHIND: Final = {"prefill": 1, "decode": 2}
"""The ports of the pools, counted from the endpoint's."""
PORTS_TAKEN: Final = 3
"""How many from the endpoint's on are taken; the router behind a front has the next."""


class PoolPart(Struct, frozen=True):
    """One pool: its settings as a spec that knows of no pools, its machines, and its part in the transfer."""

    spec: Spec
    cluster: Cluster
    transfer: Transfer
    port: int


def facts_of(spec: Spec) -> PoolFacts:
    """Raises UsageError where the engine has no pools; the schema has refused such a spec."""
    facts = ENGINES[spec.engine.name].facts.pools
    if facts is None:
        raise UsageError(f"moonpad writes no prefill and decode pools for {spec.engine.name}")
    return facts


def table_of(spec: Spec, role: PoolRole) -> PoolTable:
    table = spec.prefill if role == "prefill" else spec.decode
    if table is None:
        raise UsageError(f"the spec has no [{role}]")
    return table


def part_of(spec: Spec, role: PoolRole, whole: Cluster) -> PoolPart:
    """
    Raises:
        SpecError: the pools use more machines than there are, or fewer.
        UsageError: the endpoint has a key, which no router here passes on.
    """
    if spec.endpoint.keyed:
        raise UsageError(
            "an endpoint of two pools takes no key yet: the router would have to hold it among its arguments",
            remedy="take api_key_env or api_key_file out of [endpoint], and put a gateway with keys before it",
        )
    nodes = {each: table_of(spec, each).nodes for each in POOL_ROLES}
    if (asked := sum(nodes.values())) != whole.nodes:
        raise SpecError(
            f"prefill has {nodes['prefill']} and decode {nodes['decode']} nodes, together {asked}; {whole.name} has "
            f"{whole.nodes}",
            remedy=f"set nodes in [prefill] and [decode] so that they add up to {whole.nodes}",
        )
    table = table_of(spec, role)
    own = table.settings
    settings = spec.settings.model_copy(
        update={name: getattr(own, name) for name in own.model_fields_set}
        | {"extra_args": (*spec.settings.extra_args, *own.extra_args)}
    )
    alone = spec.model_copy(
        update={
            "name": f"{spec.name}-{role}",
            "layout": table.layout,
            "settings": settings,
            "prefill": None,
            "decode": None,
        }
    )
    return PoolPart(alone, _share(whole, nodes[role]), transfer_of(spec, role), port_of(spec, role))


def port_of(spec: Spec, role: PoolRole) -> int:
    return table_of(spec, role).port or spec.endpoint.port + PORTS_BEHIND[role]


def transfer_of(spec: Spec, role: PoolRole) -> Transfer:
    asked = spec.transfer
    return Transfer(
        role,
        asked.connector or facts_of(spec).default or "nixl",
        asked.network_devices,
        asked.bootstrap_timeout_s,
        asked.waiting_timeout_s,
        asked.heartbeat_s,
        asked.report_speed,
    )


def as_pool(plan: Plan, part: PoolPart) -> Plan:
    """The plan of a pool's spec, as a server that only the router and the other pool reach."""
    serving = replace(plan.serving, port=part.port, reach="cluster")
    return replace(plan, serving=serving, transfer=part.transfer)


def pair_findings(
    spec: Spec, plans: dict[PoolRole, Plan], parts: dict[PoolRole, PoolPart], checkpoint: Checkpoint
) -> tuple[Finding, ...]:
    """What is wrong with the two together."""
    pools = {role: _pool(spec, plans[role], parts[role], checkpoint) for role in POOL_ROLES}
    return check_pools(PoolPair(pools["prefill"], pools["decode"], facts_of(spec)))


def _pool(spec: Spec, plan: Plan, part: PoolPart, checkpoint: Checkpoint) -> Pool:
    facts = ENGINES[spec.engine.name].facts
    configuration = Configuration(checkpoint, part.cluster, facts, plan.engine_version, plan.layout, plan.settings)
    return Pool(
        engine=facts.name,
        version=plan.engine_version,
        model=checkpoint.name,
        model_written="",  # one folder for both, whatever each machine calls it
        layout=plan.layout,
        settings=plan.settings,
        kv_format=configuration.stored_kv,
        connector=part.transfer.connector,
        context=plan.settings.max_model_len or checkpoint.architecture.max_context,
    )


def _share(whole: Cluster, nodes: int) -> Cluster:
    """So many machines of it, under the name that says so."""
    kind = whole.name.removeprefix(f"{whole.nodes}x")
    return replace(whole, nodes=nodes, name=f"{nodes}x{kind}" if nodes > 1 else kind)
