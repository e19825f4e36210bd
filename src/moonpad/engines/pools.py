"""A prefill and a decode pool, each planned as a deployment of its own, as one deployment with a router before them."""

from __future__ import annotations

from collections.abc import Mapping

from moonpad.engines.base import API
from moonpad.engines.pool_routers import router_process
from moonpad.engines.renaming import Names
from moonpad.engines.router_programs import NAME as ROUTER
from moonpad.values.deployment import Deployment, Gang, Reach
from moonpad.values.errors import UsageError
from moonpad.values.plan import Transfer
from moonpad.values.pools import PoolRole
from moonpad.values.references import PortRef


def pools_deployment(
    name: str,
    engine: str,
    pools: Mapping[PoolRole, Deployment],
    transfer: Transfer,
    *,
    port: int,
    reach: Reach,
    router_image: str = "",
) -> Deployment:
    """Processes `prefill`, `prefill-1` … on nodes `prefill-0`, `prefill-1` …, `decode` likewise, and `router`, whose
    port is the endpoint. The two pools fail apart."""
    of_role = {role: _of_pool(role, deployment) for role, deployment in pools.items()}
    router = router_process(engine, of_role, transfer, port, reach, router_image)
    gangs = (*(gang for deployment in of_role.values() for gang in deployment.gangs), Gang(ROUTER, (router,)))
    served = of_role["decode"].served_name
    return Deployment(gangs, PortRef(ROUTER, API.name), served, name)


def _of_pool(role: PoolRole, deployment: Deployment) -> Deployment:
    """The same under the names of the pool: `prefill` of `engine`, `prefill-3` of `engine-3` and of `node-3`."""
    if len(deployment.gangs) != 1:
        raise UsageError(f"the {role} pool is made of several groups of processes", remedy="leave executor out")
    (gang,) = deployment.gangs
    names = Names(
        {process.name: role + process.name.removeprefix(API.process) for process in gang.processes},
        {process.node: f"{role}-{process.node.removeprefix('node-')}" for process in gang.processes},
    )
    processes = tuple(map(names.process, gang.processes))
    return Deployment((Gang(gang.name, processes),), names.port(deployment.endpoint), deployment.served_name)
