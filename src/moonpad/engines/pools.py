"""A prefill and a decode pool, each planned as a deployment of its own, as one deployment with a router before them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from moonpad.engines.base import API
from moonpad.engines.pool_routers import NAME as ROUTER
from moonpad.engines.pool_routers import router_process
from moonpad.values.deployment import (
    Deployment,
    Executable,
    Gang,
    HealthProbe,
    HttpProbe,
    Mount,
    Probe,
    Process,
    Reach,
    Runtime,
)
from moonpad.values.errors import UsageError
from moonpad.values.plan import Transfer
from moonpad.values.pools import PoolRole
from moonpad.values.references import Arg, HostRef, PortRef, RankRef, Ref, parts


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
    """The same under the names of the pool."""
    if len(deployment.gangs) != 1:
        raise UsageError(f"the {role} pool is made of several groups of processes", remedy="leave executor out")
    (gang,) = deployment.gangs
    processes = tuple(_renamed(role, process) for process in gang.processes)
    return Deployment((Gang(gang.name, processes),), _port(role, deployment.endpoint), deployment.served_name)


def _renamed(role: PoolRole, process: Process) -> Process:
    runtime: Runtime = process.runtime
    if isinstance(runtime, Executable):
        runtime = Executable(tuple(_arg(role, arg) for arg in runtime.prefix))
    else:
        runtime = replace(runtime, entrypoint=tuple(_arg(role, arg) for arg in runtime.entrypoint))
    files = (replace(file, content=tuple(_arg(role, arg) for arg in file.content)) for file in process.files)
    return replace(
        process,
        name=_process_name(role, process.name),
        node=_node(role, process.node),
        runtime=runtime,
        argv=tuple(_arg(role, arg) for arg in process.argv),
        env={name: _arg(role, arg) for name, arg in process.env.items()},
        files=tuple(files),
        mounts=tuple(Mount(_arg(role, mount.source), mount.target, mount.read_only) for mount in process.mounts),
        after=tuple(replace(after, process=_process_name(role, after.process)) for after in process.after),
        ready=_probe(role, process.ready),
    )


def _probe(role: PoolRole, probe: Probe) -> Probe:
    if isinstance(probe, (HttpProbe, HealthProbe)):
        return replace(probe, port=_port(role, probe.port))
    return probe


def _arg(role: PoolRole, arg: Arg) -> Arg:
    if isinstance(arg, tuple):
        return tuple(part if isinstance(part, str) else _ref(role, part) for part in parts(arg))
    return arg if isinstance(arg, str) else _ref(role, arg)


def _ref(role: PoolRole, ref: Ref) -> Ref:
    match ref:
        case HostRef(node):
            return HostRef(_node(role, node))
        case RankRef(node, times):
            return RankRef(_node(role, node), times)
        case PortRef():
            return _port(role, ref)
    return ref


def _port(role: PoolRole, port: PortRef) -> PortRef:
    return PortRef(_process_name(role, port.process), port.name)


def _node(role: PoolRole, node: str) -> str:
    """`prefill-3` of `node-3`."""
    return f"{role}-{node.removeprefix('node-')}"


def _process_name(role: PoolRole, name: str) -> str:
    """`prefill` of `engine`, `prefill-3` of `engine-3`."""
    return role + name.removeprefix(API.process)
