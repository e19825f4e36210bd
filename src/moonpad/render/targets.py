"""A spec's plan for each target: where the engine comes from, and which files say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from moonpad.engines.pool_routers import OF_ENGINE as POOL_ROUTERS
from moonpad.engines.pools import pools_deployment
from moonpad.engines.router_programs import Router
from moonpad.plan.from_spec import container_of, engine_of, runtime_of
from moonpad.plan.pools_from_spec import PORTS_TAKEN
from moonpad.plan.replicas import machines_apart, routed, router_of
from moonpad.render.aisbench import START, render_aisbench
from moonpad.render.compose import render_compose
from moonpad.render.docker_run import render_docker
from moonpad.render.firewall import render_firewall
from moonpad.render.kubernetes import render_kubernetes
from moonpad.render.leftovers import render_stops
from moonpad.render.mpirun import render_mpirun
from moonpad.render.proxy import IMAGE, behind, with_front
from moonpad.render.rendered import Rendered
from moonpad.render.shell import render_shell
from moonpad.render.slurm import by_rank, render_slurm
from moonpad.render.systemd import render_systemd
from moonpad.spec.router_table import RouterTable
from moonpad.spec.schema import Spec
from moonpad.values.deployment import Deployment, Image, Reach, Role, Runtime
from moonpad.values.errors import UsageError
from moonpad.values.plan import Plan
from moonpad.values.pools import PoolRole
from moonpad.values.records import replace

CLIENTS: Final = ("aisbench",)
"""Files for clients of the endpoint, and not for its processes."""
THERE: Final = ("shell", "docker", "compose", "kubernetes", "systemd", "slurm")
"""For every engine, unless it starts its ranks by MPI; then there are shell, systemd, slurm and mpirun."""
WITH_ROUTER: Final = ("shell", "compose", "kubernetes")
"""Targets that copies behind a router are written for."""
FOR_POOLS: Final = ("shell", "slurm", "kubernetes")
"""Targets that prefill and decode pools are written for."""


@dataclass(frozen=True, slots=True)
class Files:
    """Path → text and mode, and how one of them is started, with `{}` for its path."""

    files: Mapping[str, Rendered]
    start: str


def render_for(target: str, spec: Spec, plan: Plan) -> Files:
    """
    Raises:
        PreflightRefused: the engine cannot be told this plan.
        UsageError: the target cannot be told it, or no image is known.
    """
    if target in CLIENTS:
        return Files(render_aisbench(spec), START)
    if spec.router is not None and target not in WITH_ROUTER:
        raise UsageError(
            f"copies behind a router are not written for {target} yet",
            remedy=f"use --to {', '.join(WITH_ROUTER)}",
        )
    if spec.router is not None and target != "kubernetes" and machines_apart(spec):
        raise UsageError(f"copies on several machines are not written for {target} yet", remedy="use --to kubernetes")
    if target == "shell":
        deployment = deployment_of(spec, plan, runtime_of(spec))
        beside = {**render_stops(deployment), **_firewall(spec, deployment)}
        return Files({**render_shell(deployment), **beside}, "bash {}")
    if target == "systemd":
        deployment = deployment_of(spec, plan, container_of(spec, plan) if spec.engine.image else runtime_of(spec))
        return Files({**render_systemd(deployment), **_firewall(spec, deployment)}, "systemd-analyze verify {}")
    if target == "slurm":
        deployment = deployment_of(spec, plan, container_of(spec, plan) if spec.engine.image else runtime_of(spec))
        ranks = by_rank(deployment)
        scripts = render_docker(ranks) if spec.engine.image else render_shell(ranks)
        return Files({**render_slurm(ranks, scripts), **_firewall(spec, deployment)}, "sbatch {}")
    if target == "mpirun":
        deployment = deployment_of(spec, plan, container_of(spec, plan) if spec.engine.image else runtime_of(spec))
        started, files = render_mpirun(deployment, _ssh_port(spec))
        return Files({**files, **render_firewall(started)}, "bash {}")
    image = container_of(spec, plan)
    # Pods have addresses of their own, also where containers would share the network of their hosts.
    in_pods = target == "kubernetes"
    deployment = deployment_of(
        spec, plan, replace(image, own_network=True) if in_pods else image, one_machine=not in_pods
    )
    if any(process.role is Role.LAUNCHER for process in deployment.processes):
        raise UsageError(
            f"this engine starts its ranks on other machines over MPI, which is not supported for {target}",
            remedy="use --to mpirun or --to slurm",
        )
    match target:
        case "kubernetes":
            return Files(render_kubernetes(deployment, spec.kubernetes), "kubectl apply -f {}")
        case "compose":
            return Files({**render_compose(deployment), **_firewall(spec, deployment)}, "docker compose -f {} up")
    return Files({**render_docker(deployment), **_firewall(spec, deployment)}, "bash {}")


def render_pools(target: str, spec: Spec, plans: Mapping[PoolRole, Plan]) -> Files:
    """As `render_for`, of a spec with a prefill and a decode pool."""
    if target in CLIENTS:
        return Files(render_aisbench(spec), START)
    if target not in FOR_POOLS:
        raise UsageError(
            f"prefill and decode pools are not written for {target}", remedy=f"use --to {', '.join(FOR_POOLS)}"
        )
    if target == "kubernetes":
        images = {role: replace(container_of(spec, plan), own_network=True) for role, plan in plans.items()}
        deployment = pools_of(spec, plans, images)
        return Files(render_kubernetes(deployment, spec.kubernetes), "kubectl apply -f {}")
    if spec.engine.image:
        raise UsageError(
            f"prefill and decode pools in containers are not written for {target}",
            remedy="leave [engine] image out, or use --to kubernetes",
        )
    deployment = pools_of(spec, plans, dict.fromkeys(plans, runtime_of(spec)))
    files = {**render_shell(deployment), **render_firewall(deployment)}
    if target == "slurm":
        return Files({**render_slurm(deployment, files), **files}, "sbatch {}")
    return Files({**files, **render_stops(deployment)}, "bash {}")


def pools_of(spec: Spec, plans: Mapping[PoolRole, Plan], runtimes: Mapping[PoolRole, Runtime]) -> Deployment:
    """Both pools and their router, with a front where the spec opens the endpoint to others."""
    engine, endpoint = engine_of(spec), spec.endpoint
    pools = {role: engine.processes(plan, runtimes[role]) for role, plan in plans.items()}
    port = endpoint.port + PORTS_TAKEN if endpoint.expose else endpoint.port
    reach: Reach = "private" if endpoint.expose else "loopback"
    image = ""
    if isinstance(runtime := runtimes["prefill"], Image):
        image = router_image(spec, runtime.reference)
    transfer = plans["prefill"].transfer
    if transfer is None:
        raise ValueError("the plan of a pool says what it is in the transfer")
    deployment = pools_deployment(spec.name, engine.name, pools, transfer, port=port, reach=reach, router_image=image)
    if not endpoint.expose:
        return deployment
    return with_front(deployment, endpoint.port, endpoint.front_image or IMAGE)


def router_image(spec: Spec, engine_image: str) -> str:
    """Raises UsageError where the engine's image has no router and the spec names no other."""
    router = POOL_ROUTERS[spec.engine.name]
    if spec.transfer.router_image:
        return spec.transfer.router_image
    if not router.in_engine_image:
        raise UsageError(
            f"the images of {spec.engine.name} hold no {router.name}",
            remedy='name an image that does: [transfer] router_image = "NAME@sha256:..."',
        )
    return engine_image


def deployment_of(spec: Spec, plan: Plan, runtime: Runtime, *, one_machine: bool = True) -> Deployment:
    """With a front where the spec opens the endpoint to others, and with copies behind a router where it says so.
    `one_machine`: the copies share its devices.

    Raises:
        UsageError: the copies run in containers, and no image of the router is known; or see `routed`.
    """
    engine = engine_of(spec)
    if found := router_of(spec):
        deployment = routed(spec, engine, plan, runtime, _router_in(*found, runtime), one_machine=one_machine)
        front = spec.endpoint.front_image or IMAGE
        return with_front(deployment, spec.endpoint.port, front) if spec.endpoint.expose else deployment
    if plan.serving.reach != "public":
        return engine.processes(plan, runtime)
    front = spec.endpoint.front_image or IMAGE
    return with_front(engine.processes(behind(plan), runtime), plan.serving.port, front)


def _ssh_port(spec: Spec) -> int | None:
    """mpirun has one for all hosts; where they differ, the configuration of ssh says each."""
    ports = {host.port for host in spec.hosts[1:]}
    return ports.pop() if len(ports) == 1 else None


def _firewall(spec: Spec, deployment: Deployment) -> Mapping[str, Rendered]:
    """Copies on one machine meet nobody of another one."""
    return {} if spec.router else render_firewall(deployment)


def _router_in(router: Router, table: RouterTable, engine_in: Runtime) -> Runtime:
    """Beside engines in containers the router runs in one too."""
    if not isinstance(engine_in, Image):
        return router.installed()
    if table.image is None:
        raise UsageError(
            f"no image of {router.name} is named, and the engine runs in one",
            remedy='name one that has it and Python: [router] image = "NAME@sha256:..."',
        )
    return router.contained(table.image, own_network=engine_in.own_network)
