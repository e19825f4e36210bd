"""Several copies of a plan behind a router, as one deployment. Pure.

A copy is the engine's own deployment for the same plan, on a port and on devices of its own. Its processes and nodes
get the copy's name in front, so that all of them stand beside one another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from moonpad.catalog.clusters import parse_cluster
from moonpad.engines.base import Engine, listen_on
from moonpad.engines.renaming import Names
from moonpad.engines.router_programs import ROUTERS, Router
from moonpad.engines.routers import API as ROUTER_API
from moonpad.engines.routers import Replica, Routing, router_process
from moonpad.spec.router_table import RouterTable, metrics_port, replica_port, router_port
from moonpad.spec.schema import Spec
from moonpad.values.cluster import Cluster
from moonpad.values.deployment import Deployment, Executable, Gang, Process, Runtime
from moonpad.values.errors import PreflightRefused, UsageError
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Plan
from moonpad.values.platform import Platform
from moonpad.values.records import replace
from moonpad.values.references import PortRef, SecretRef

VISIBLE: Final[Mapping[Platform, str]] = {
    Platform.CUDA: "CUDA_VISIBLE_DEVICES",
    Platform.ROCM: "HIP_VISIBLE_DEVICES",
    Platform.ASCEND: "ASCEND_RT_VISIBLE_DEVICES",
}
"""The variable by which a runtime shows a process some of the devices alone."""


def router_of(spec: Spec) -> tuple[Router, RouterTable] | None:
    """The router that the spec names, with its table; None without one."""
    return (ROUTERS[spec.router.name], spec.router) if spec.router else None


def replica_names(name: str, count: int) -> tuple[str, ...]:
    return tuple(f"{name}-replica-{number}" for number in range(count))


def shared(cluster: Cluster, spec: Spec) -> Cluster:
    """What one copy has of the cluster: whole machines where they divide among the copies, else a part of each
    machine's devices and memory.

    Raises:
        PreflightRefused: the devices of a machine do not divide among the copies.
    """
    if spec.router is None or spec.router.replicas == 1:
        return cluster
    copies, host = spec.router.replicas, cluster.host
    if _apart(cluster, copies):
        return _named(replace(cluster, nodes=cluster.nodes // copies))
    if host.memory_bytes is not None:
        host = replace(host, memory_bytes=host.memory_bytes // copies)
    if cluster.device.platform is Platform.CPU:
        return replace(cluster, host=host)
    if cluster.per_node % copies:
        message = f"{cluster.per_node} devices do not divide among {copies} copies"
        remedy = f"choose a number of replicas that divides {cluster.per_node}"
        finding = Finding(Severity.ERROR, Code.ILLEGAL_LAYOUT, "router.replicas", message, remedy)
        raise PreflightRefused("the copies cannot share this machine", findings=(finding,))
    return _named(replace(cluster, per_node=cluster.per_node // copies, host=host))


def machines_apart(spec: Spec) -> bool:
    """Whether the spec names several machines, so that its copies do not share one."""
    return spec.hardware.cluster is not None and parse_cluster(spec.hardware.cluster).nodes > 1


def _apart(cluster: Cluster, copies: int) -> bool:
    return cluster.nodes > 1 and cluster.nodes % copies == 0


def _named(cluster: Cluster) -> Cluster:
    product = cluster.name.rpartition("x")[2]
    nodes = f"{cluster.nodes}x" if cluster.nodes > 1 else ""
    return replace(cluster, name=f"{nodes}{cluster.per_node}x{product}")


def replica_spec(spec: Spec, number: int) -> Spec:
    """The spec of one copy: its name and its port. `router` stays, since it says how the devices are shared."""
    assert spec.router is not None  # noqa: S101 - for mypy
    name = replica_names(spec.name, spec.router.replicas)[number]
    port = replica_port(spec.endpoint, spec.router, number)
    endpoint = spec.endpoint.model_copy(update={"port": port, "expose": False})
    return spec.model_copy(update={"name": name, "endpoint": endpoint})


def replica_plan(spec: Spec, plan: Plan, number: int) -> Plan:
    """The plan of one copy."""
    copy = replica_spec(spec, number)
    return replace(plan, name=copy.name, serving=replace(plan.serving, port=copy.endpoint.port, reach="loopback"))


def replica_deployment(
    spec: Spec, engine: Engine, plan: Plan, runtime: Runtime, number: int, *, one_machine: bool = True
) -> Deployment:
    """The engine's own deployment for the copy of that number. `plan` is the copy's. On `one_machine` it has devices of
    its own there; elsewhere whoever places it sees to that.

    Raises:
        UsageError: its processes run in containers, which cannot be given the later devices of a machine yet.
    """
    deployment = engine.processes(plan, runtime)
    if spec.router is None or spec.router.replicas == 1 or not one_machine:
        return deployment
    return _mapped(deployment, lambda process: _on_own_devices(process, number))


def routing_of(spec: Spec, plan: Plan, replicas: tuple[Replica, ...]) -> Routing:
    """What the spec tells the router, which sends to these copies."""
    assert spec.router is not None  # noqa: S101 - for mypy
    return Routing(
        replicas=replicas,
        policy=spec.router.policy or "",
        port=router_port(spec.endpoint),
        metrics_port=metrics_port(spec.endpoint, spec.router),
        reach="private" if spec.endpoint.expose else "loopback",
        drain_s=spec.launch.drain_s,
        stop_grace_s=plan.stop_grace_s,
        replicas_start_s=plan.start_budget_s,
        extra_args=spec.router.extra_args,
    )


def routed(
    spec: Spec, engine: Engine, plan: Plan, runtime: Runtime, router_in: Runtime, *, one_machine: bool = True
) -> Deployment:
    """All copies and the router before them, which is the endpoint. `plan` is that of the spec.

    Raises:
        UsageError: see `replica_deployment`.
    """
    found = router_of(spec)
    assert found is not None  # noqa: S101 - for mypy
    router, table = found
    gangs, replicas = [], []
    for number in range(table.replicas):
        name = f"replica-{number}"
        copy = replica_plan(spec, plan, number)
        own = replica_deployment(spec, engine, copy, runtime, number, one_machine=one_machine)
        deployment = _renamed(own, name)
        gangs.append(Gang(copy.name, deployment.processes))
        head = deployment.process(deployment.endpoint.process)
        replicas.append(Replica(head.name, head.node, deployment.endpoint))
    routing = routing_of(spec, plan, tuple(replicas))
    process = router_process(router, router_in, replace(routing, host=listen_on(routing.reach, router_in)))
    if plan.serving.keyed and not isinstance(router_in, Executable):
        process = replace(process, env={"MOONPAD_API_KEY": SecretRef("api_key")})  # its container checks itself with it
    return Deployment((*gangs, Gang(spec.name, (process,))), ROUTER_API, plan.serving.served_name, spec.name)


# --- devices ---------------------------------------------------------------------------------------------------------


def _on_own_devices(process: Process, number: int) -> Process:
    needs = process.needs
    if not needs.devices:
        return process
    if not isinstance(process.runtime, Executable):
        raise UsageError(
            "copies that share the devices of one machine cannot run in containers there yet",
            remedy="use --to shell or --to kubernetes, or replicas = 1",
        )
    own = ",".join(str(number * needs.devices + device) for device in range(needs.devices))
    return replace(process, env={VISIBLE[needs.platform]: own, **process.env})


def _mapped(deployment: Deployment, change: Callable[[Process], Process]) -> Deployment:
    """Each process changed; the endpoint is that of the same process."""
    gangs = tuple(Gang(gang.name, tuple(map(change, gang.processes))) for gang in deployment.gangs)
    endpoint = change(deployment.process(deployment.endpoint.process)).name
    return Deployment(gangs, PortRef(endpoint, deployment.endpoint.name), deployment.served_name)


# --- names -----------------------------------------------------------------------------------------------------------


def _renamed(deployment: Deployment, name: str) -> Deployment:
    """Processes and nodes with the copy's name in front; the head, and its node, have that name alone."""
    head = deployment.process(deployment.endpoint.process)
    processes = {other.name: name if other is head else f"{name}-{other.name}" for other in deployment.processes}
    nodes = {other.node: name if other.node == head.node else f"{name}-{other.node}" for other in deployment.processes}
    return _mapped(deployment, Names(processes, nodes).process)
