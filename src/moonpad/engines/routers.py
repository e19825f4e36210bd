"""The routers that stand before several copies of an engine, and one explicit dict.

A router is a program of others: it is started, watched and stopped like an engine, and computes no token. Which copies
it sends to is in its arguments. Sources: the wheels `sglang_router-0.3.2` (router_args.py) and `vllm_router-0.1.17`
(router_args.py), and what both answered here (docs/routers.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from moonpad.engines.install_recipe import Recipe
from moonpad.engines.log_grammar import CauseLine, LogGrammar
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
from moonpad.values.units import GIB

NAME: Final = "router"
"""Of the process, of its gang and of its node."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """One router. `subcommand`: the words between its command and its options."""

    name: str
    command: str
    program: str
    """The name of its options in the catalogue."""
    policies: tuple[str, ...]
    """The first is the one that is taken where none is named."""
    recipe: Recipe
    log: LogGrammar
    subcommand: tuple[str, ...] = ()
    drain_option: str = ""
    """How long running requests may continue once it is told to end; "": it waits for all of them."""
    version_args: tuple[str, ...] = ("--version",)

    def argv(self, routing: Routing) -> Iterator[Arg]:
        """Its arguments, without the command itself."""
        yield from self.subcommand
        yield from ("--host", routing.host, "--port", API)
        yield "--worker-urls"
        yield from (("http://", HostRef(replica.node), ":", replica.port) for replica in routing.replicas)
        yield from ("--policy", routing.policy or self.policies[0])
        yield from ("--prometheus-host", "127.0.0.1", "--prometheus-port", METRICS)
        yield from ("--health-check-interval-secs", str(HEALTH_EVERY_S))
        yield from ("--health-failure-threshold", str(FAILURES), "--health-success-threshold", str(SUCCESSES))
        yield from ("--cb-timeout-duration-secs", str(CIRCUIT_S), "--retry-max-retries", str(RETRIES))
        yield from ("--worker-startup-timeout-secs", str(AWAITED_S))
        yield from ("--worker-startup-check-interval", str(HEALTH_EVERY_S))
        if self.drain_option:
            yield from (self.drain_option, str(max(1, round(routing.drain_s))))
        yield from routing.extra_args


@dataclass(frozen=True, slots=True)
class Replica:
    """One copy of the engine: the node that serves its API, and the port of it there."""

    name: str
    node: str
    port: PortRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
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


def router_process(router: Router, runtime: Runtime, routing: Routing) -> Process:
    """The router's process, after its copies are ready."""
    return Process(
        name=NAME,
        role=Role.ROUTER,
        node=NAME,
        rank=0,
        runtime=runtime,
        argv=tuple(router.argv(routing)),
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


def _recipe(name: str, version: str, glibc: tuple[int, int], *, disk_bytes: int, download_bytes: int) -> Recipe:
    """Its wheel is for every Python from 3.8 on. Its version is asked for in a way that loads the Rust part too."""
    module = name.replace("-", "_")
    ask = f"import {module}_rs" if name == "vllm-router" else f"import {module}.{module}_rs"
    return Recipe(
        name=name,
        version=version,
        lock=f"{name}-{version}.txt",
        unlocked=(),
        fallback_index="",
        python=((3, 11), (3, 14)),
        system="Linux",
        machine="x86_64",
        glibc=glibc,
        processor_flags_any=("avx512f", "avx2", "sse4_2"),
        disk_bytes=disk_bytes,
        download_bytes=download_bytes,
        memory_bytes=GIB,
        ask=("python", "-c", f"{ask}; from importlib.metadata import version; print({name!r}, version({name!r}))"),
    )


_LOG: Final = LogGrammar(
    phases=(),
    causes=(
        CauseLine(
            re.compile(r"Address already in use"),
            "the router's port, or that of its metrics, is in use by another program",
            "set another [endpoint] port, or [router] metrics_port",
        ),
    ),
    generic=(),
)
SGLANG_ROUTER: Final = Router(
    name="sglang-router",
    command="sglang-router",
    subcommand=("launch",),
    program="sglang-router",
    policies=("cache_aware", "round_robin", "random", "power_of_two", "manual"),
    recipe=_recipe("sglang-router", "0.3.2", (2, 17), disk_bytes=150_000_000, download_bytes=36_000_000),
    log=_LOG,
    drain_option="--shutdown-grace-period-secs",
)

VLLM_ROUTER: Final = Router(
    name="vllm-router",
    command="vllm-router",
    program="vllm-router",
    policies=("cache_aware", "round_robin", "random", "power_of_two", "consistent_hash", "sticky_least_loaded"),
    recipe=_recipe("vllm-router", "0.1.17", (2, 28), disk_bytes=130_000_000, download_bytes=29_000_000),
    log=_LOG,
)

ROUTERS: Final[Mapping[str, Router]] = {router.name: router for router in (SGLANG_ROUTER, VLLM_ROUTER)}
