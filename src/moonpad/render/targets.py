"""A spec's plan for each target: where the engine comes from, and which files say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from moonpad.plan.from_spec import container_of, engine_of, runtime_of
from moonpad.render.aisbench import START, render_aisbench
from moonpad.render.compose import render_compose
from moonpad.render.docker_run import render_docker
from moonpad.render.firewall import render_firewall
from moonpad.render.kubernetes import render_kubernetes
from moonpad.render.mpirun import render_mpirun
from moonpad.render.proxy import IMAGE, behind, with_front
from moonpad.render.rendered import Rendered
from moonpad.render.shell import render_shell
from moonpad.render.slurm import by_rank, render_slurm
from moonpad.render.systemd import render_systemd
from moonpad.spec.schema import Spec
from moonpad.values.deployment import Deployment, Role, Runtime
from moonpad.values.errors import UsageError
from moonpad.values.plan import Plan

CLIENTS: Final = ("aisbench",)
"""Files for clients of the endpoint, and not for its processes."""
THERE: Final = ("shell", "docker", "compose", "kubernetes", "systemd", "slurm")
"""For every engine, unless it starts its ranks by MPI; then there are shell, systemd, slurm and mpirun."""


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
    if target == "shell":
        deployment = deployment_of(spec, plan, runtime_of(spec))
        return Files({**render_shell(deployment), **render_firewall(deployment)}, "bash {}")
    if target == "systemd":
        deployment = deployment_of(spec, plan, container_of(spec, plan) if spec.engine.image else runtime_of(spec))
        return Files({**render_systemd(deployment), **render_firewall(deployment)}, "systemd-analyze verify {}")
    if target == "slurm":
        deployment = deployment_of(spec, plan, container_of(spec, plan) if spec.engine.image else runtime_of(spec))
        ranks = by_rank(deployment)
        scripts = render_docker(ranks) if spec.engine.image else render_shell(ranks)
        return Files({**render_slurm(ranks, scripts), **render_firewall(deployment)}, "sbatch {}")
    if target == "mpirun":
        deployment = deployment_of(spec, plan, container_of(spec, plan) if spec.engine.image else runtime_of(spec))
        started, files = render_mpirun(deployment, _ssh_port(spec))
        return Files({**files, **render_firewall(started)}, "bash {}")
    image = container_of(spec, plan)
    # Pods have addresses of their own, also where containers would share the network of their hosts.
    deployment = deployment_of(spec, plan, replace(image, own_network=True) if target == "kubernetes" else image)
    if any(process.role is Role.LAUNCHER for process in deployment.processes):
        raise UsageError(
            f"this engine starts its ranks on other machines over MPI, which is not supported for {target}",
            remedy="use --to mpirun or --to slurm",
        )
    match target:
        case "kubernetes":
            return Files(render_kubernetes(deployment, spec.kubernetes), "kubectl apply -f {}")
        case "compose":
            return Files({**render_compose(deployment), **render_firewall(deployment)}, "docker compose -f {} up")
    return Files({**render_docker(deployment), **render_firewall(deployment)}, "bash {}")


def deployment_of(spec: Spec, plan: Plan, runtime: Runtime) -> Deployment:
    """With a front where the spec opens the endpoint to others."""
    engine = engine_of(spec)
    if plan.serving.reach != "public":
        return engine.processes(plan, runtime)
    front = spec.endpoint.front_image or IMAGE
    return with_front(engine.processes(behind(plan), runtime), plan.serving.port, front)


def _ssh_port(spec: Spec) -> int | None:
    """mpirun has one for all hosts; where they differ, the configuration of ssh says each."""
    ports = {host.port for host in spec.hosts[1:]}
    return ports.pop() if len(ports) == 1 else None
