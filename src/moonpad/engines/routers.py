"""A router before several copies of an engine. Which copies it sends to is in its arguments.

Sources: the wheels `sglang_router-0.3.2` (router_args.py) and `vllm_router-0.1.17` (router_args.py), and what both
answered here (docs/routers.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from moonpad.engines.router_programs import NAME, Router
from moonpad.values.deployment import (
    After,
    Deployment,
    Gang,
    HttpProbe,
    PortSpec,
    Process,
    Reach,
    Role,
    Runtime,
    Stop,
)
from moonpad.values.references import Arg, HostRef, PortRef

API: Final = PortRef(NAME, "api")
METRICS: Final = PortRef(NAME, "metrics")
READINESS: Final = "/readiness"
"""200 while at least one copy is healthy. `/health` is 200 of sglang-router whatever becomes of the copies, and of
vllm-router only while all of them are healthy."""
HEALTH_EVERY_S: Final = 1
"""A copy that has died is left out after three such checks, and one that is back taken in after two; the default of
both routers is a minute."""
FAILURES: Final = 3
SUCCESSES: Final = 2
CIRCUIT_S: Final = 5
"""How long a copy with ten failures in a row gets no request, beside the checks of its health; by default a minute."""
RETRIES: Final = 5
AWAITED_S: Final = 86_400
"""For how long a copy that is not up when the router starts is still taken in: sglang-router forgets it after that."""
START_S: Final = 60.0
"""For the router itself, which takes seconds; its copies are waited for before."""


class Replica(Struct, frozen=True):
    """One copy of the engine: the node that serves its API, and the port of it there."""

    name: str
    node: str
    port: PortRef


class Routing(Struct, frozen=True, kw_only=True):
    """What a router is told. `replicas_start_s`: how long its copies may take, where nothing waits for them before."""

    replicas: tuple[Replica, ...]
    policy: str
    port: int
    metrics_port: int
    host: str = "127.0.0.1"
    reach: Reach = "loopback"
    drain_s: float = 0.0
    stop_grace_s: float = 20.0
    replicas_start_s: float = 0.0
    extra_args: tuple[str, ...] = ()


def copies_argv(router: Router, routing: Routing) -> Iterator[Arg]:
    """Its options before copies."""
    yield from ("--host", routing.host, "--port", API)
    yield "--worker-urls"
    yield from (("http://", HostRef(replica.node), ":", replica.port) for replica in routing.replicas)
    yield from ("--policy", routing.policy or router.policies[0])
    yield from ("--prometheus-host", "127.0.0.1", "--prometheus-port", METRICS)
    yield from ("--health-check-interval-secs", str(HEALTH_EVERY_S))
    yield from ("--health-failure-threshold", str(FAILURES), "--health-success-threshold", str(SUCCESSES))
    yield from ("--cb-timeout-duration-secs", str(CIRCUIT_S), "--retry-max-retries", str(RETRIES))
    yield from ("--worker-startup-timeout-secs", str(AWAITED_S))
    yield from ("--worker-startup-check-interval", str(HEALTH_EVERY_S))
    if router.drain_option:
        yield from (router.drain_option, str(max(1, round(routing.drain_s))))
    yield from routing.extra_args


def router_process(router: Router, runtime: Runtime, routing: Routing) -> Process:
    """The router's process, after its copies are ready."""
    return Process(
        name=NAME,
        role=Role.ROUTER,
        node=NAME,
        rank=0,
        runtime=runtime,
        argv=tuple(copies_argv(router, routing)),
        ports=(
            PortSpec(API.name, routing.port, routing.reach),
            PortSpec(METRICS.name, routing.metrics_port, "private"),
        ),
        after=tuple(After(replica.name, "ready") for replica in routing.replicas),
        ready=HttpProbe(API, READINESS),
        start_budget_s=START_S + routing.replicas_start_s,
        stop=Stop(grace_s=routing.stop_grace_s, drain_s=routing.drain_s),
    )


def router_deployment(router: Router, runtime: Runtime, routing: Routing, served_name: str) -> Deployment:
    """The router alone: its copies are deployments of their own."""
    gang = Gang(NAME, (router_process(router, runtime, routing),))
    return Deployment((gang,), API, served_name)


def is_before_copies(process: Process) -> bool:
    """Whether it is the router of several copies, which has a node of its own; that of two pools shares prefill's."""
    return process.role is Role.ROUTER and process.name == process.node == NAME


def is_routed(deployment: Deployment) -> bool:
    """Whether a router stands before copies of the engine in it."""
    return any(map(is_before_copies, deployment.processes))


def is_on_loopback(node: str, deployment: Deployment) -> bool:
    """Whether the others reach the node by the loopback, unless somebody places it elsewhere: it is the only one, or
    holds one of several copies on one machine."""
    if deployment.nodes == (node,):
        return True
    own = [gang for gang in deployment.gangs if any(process.node == node for process in gang.processes)]
    return is_routed(deployment) and all(process.node == node for gang in own for process in gang.processes)
