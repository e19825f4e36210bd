"""From a spec to everything that a start needs, without starting anything."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from moonpad.catalog.models import find_model
from moonpad.checkpoints.completeness import CheckpointFiles, inspect, require_complete
from moonpad.checkpoints.resolve import checkpoint_folder
from moonpad.engines import ENGINES
from moonpad.engines.base import Engine, settled_version
from moonpad.engines.log_grammar import LogGrammar
from moonpad.environments.installed import BRING_YOUR_OWN, InstalledEngine, engine_from_python, find
from moonpad.facts.devices import this_host
from moonpad.plan.from_spec import runtime_of
from moonpad.plan.replicas import replica_deployment
from moonpad.render.docker_run import docker_run
from moonpad.render.proxy import engine_port, front_of
from moonpad.render.rendered import Rendered
from moonpad.render.shell import render_shell
from moonpad.render.targets import deployment_of
from moonpad.run.api_keys import read_key
from moonpad.run.container import ContainerEngine, checkpoint_mount, find_client
from moonpad.run.planning import PlannedSpec, plan_spec
from moonpad.run.ssh_hosts import SshHost
from moonpad.spec.loader import LoadedSpec
from moonpad.spec.schema import Spec
from moonpad.values.binding import Bindings, BoundProcess, bind_process
from moonpad.values.deployment import Deployment, Executable, Process, Role
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import CheckpointError, PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.plan import Plan, Platform
from moonpad.values.records import as_dict, replace
from moonpad.values.references import PortRef
from moonpad.values.secret import Secret
from moonpad.values.supervision import Policy

# https://docs.pytorch.org/docs/stable/distributed.html, NCCL's user guide, and for Ascend the multi-node page of
# https://docs.vllm.ai/projects/ascend
INTERFACE_ENV: Final[Mapping[Platform, tuple[str, ...]]] = {
    Platform.CPU: ("GLOO_SOCKET_IFNAME",),
    Platform.CUDA: ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"),
    Platform.ROCM: ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"),
    Platform.ASCEND: ("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "HCCL_SOCKET_IFNAME"),
}


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is to run here, and what it was made of.

    `rendered` is empty for a container: it has no script yet.
    """

    loaded: LoadedSpec
    engine: Engine
    installed: InstalledEngine | ContainerEngine
    checkpoint: CheckpointFiles
    planned: PlannedSpec
    plan: Plan
    deployment: Deployment
    rendered: Mapping[str, Rendered]
    ports: Mapping[PortRef, int]
    key: Secret | None
    key_file: str | None
    despite: frozenset[Code] = frozenset()
    """Codes of errors that the person overrode."""
    interfaces: Mapping[str, str] = field(default_factory=dict)
    """By node: the network interface with its address, where there are several and it was asked for."""

    group: str = ""
    """The endpoint whose copy this is; "": it is one by itself."""

    @property
    def spec(self) -> Spec:
        return self.loaded.spec

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def program(self) -> str:
        return "the engine"

    @property
    def log(self) -> LogGrammar:
        return self.engine.log

    @property
    def stop_grace_s(self) -> float:
        return self.plan.stop_grace_s

    def about(self) -> dict[str, Any]:
        """As `Startable` has it."""
        image = self.installed
        return {
            "despite": sorted(self.despite),
            "engine": self.engine.name,
            "engine_version": self.engine_version,
            "container": as_dict(image) if isinstance(image, ContainerEngine) else None,
            "checkpoint": str(self.checkpoint.folder),
            "key": key_source(self.spec, self.key_file) if self.key else None,
            "group": self.group,
        }

    def plan_json(self) -> dict[str, Any]:
        return as_dict(self.plan)

    @property
    def digest(self) -> str:
        """Equal where the same is asked for: a start that was measured may change the plan, and changes no spec."""
        where = self.installed.path if isinstance(self.installed, InstalledEngine) else self.installed.client
        spec = self.spec.model_dump_json(exclude={"gate", "goal", "launch", "router"})
        copies = (
            self.spec.router.replicas if self.spec.router else 1
        )  # the policy of the router is not its copies' affair
        words = (spec, self.checkpoint.folder, self.draft, where, *([copies] if copies > 1 else ()))
        return hashlib.sha256("\n".join(map(str, words)).encode()).hexdigest()

    @property
    def endpoint(self) -> Endpoint:
        """The engine's own, on the loopback: of what it tells us a front would pass on little."""
        port = self.ports[engine_port(self.deployment)]
        return Endpoint(f"http://127.0.0.1:{port}/v1", self.deployment.served_name, self.key, self.engine.name)

    @property
    def open_port(self) -> int | None:
        """Where others reach it, through its front."""
        return self.ports[self.deployment.endpoint] if front_of(self.deployment) else None

    @property
    def engine_version(self) -> str | None:
        """None for a container image: only the engine in it can say."""
        return self.installed.version if isinstance(self.installed, InstalledEngine) else None

    @property
    def policy(self) -> Policy:
        """How the run is kept up: `[launch]` of the spec."""
        return Policy.of({**self.spec.launch.model_dump(), "start_timeout_s": self.plan.start_budget_s})

    @property
    def draft(self) -> Path | None:
        """The folder of the draft model, if there is one."""
        name = self.spec.settings.draft
        return self.loaded.resolve(name) if name else None

    @property
    def addresses(self) -> Mapping[str, str]:
        """Of the hosts that the spec names, by their nodes."""
        return {f"node-{rank}": host.address for rank, host in enumerate(self.spec.hosts)}

    @property
    def far(self) -> Mapping[str, SshHost]:
        """The other hosts, by their nodes."""
        hosts = {f"node-{rank}": host for rank, host in enumerate(self.spec.hosts)}
        return {node: SshHost(node, host.ssh, host.port, host.jump) for node, host in hosts.items() if host.ssh}

    def bound(self, run_dir: Path) -> tuple[BoundProcess, ...]:
        """The processes with every reference resolved, each for its machine. The run's id is the name of its folder."""
        processes = self.deployment.processes
        bindings = Bindings(
            # The loopback in a container too: the engine's processes talk to one another over its own.
            hosts={**dict.fromkeys((process.node for process in processes), "127.0.0.1"), **self.addresses},
            ports=self.ports,
            ranks={process.node: process.rank for process in processes},
            paths={"run": str(run_dir)},
            secrets={"api_key": self.key} if self.key else {},
        )
        return tuple(self._bound(process, bindings, run_dir.name) for process in processes)

    def _bound(self, process: Process, bindings: Bindings, run_id: str) -> BoundProcess:
        bindings = replace(bindings, paths={**bindings.paths, **self.paths_of(process)})
        if isinstance(self.installed, InstalledEngine):
            # By themselves some collectives take the network that the host's name stands for, on many machines the
            # loopback.
            name = self.interfaces.get(process.node)
            network = dict.fromkeys(INTERFACE_ENV[self.plan.platform], name) if name else {}
            bound = bind_process(process, bindings)
            return replace(bound, env={**network, **bound.env})
        checkpoint = checkpoint_mount(self.checkpoint.folder)
        return docker_run(process, bindings, client=self.installed.client, run_id=run_id, checkpoint=checkpoint)

    def paths_of(self, process: Process) -> Mapping[str, str]:
        """The folders of checkpoint, draft and engine on the process's machine; of the run too, where it is another."""
        here = {"checkpoint": str(self.checkpoint.folder), **({"draft": str(self.draft)} if self.draft else {})}
        if isinstance(self.installed, InstalledEngine):
            here["engine"] = str(self.installed.path)
        if process.node not in self.far:
            return here
        host = self.spec.hosts[process.rank]
        here["run"] = "."  # where the process starts there; the folder is made by that host
        there = {"checkpoint": host.checkpoint_folder, "draft": host.draft_folder, "engine": host.engine_folder}
        return {**here, **{name: folder for name, folder in there.items() if folder is not None}}


def prepare(
    loaded: LoadedSpec, despite: frozenset[Code] = frozenset(), *, group: str = "", number: int = 0
) -> Prepared:
    """Reads the checkpoint, judges and plans the spec, finds the engine. `despite`: errors that the person overrides.
    `group`, `number`: the endpoint whose copy it is, and which of them.

    Raises:
        SpecError: the spec names an engine that there is not.
        PreflightRefused: the engine is not installed or nothing runs its image, the checkpoint is not whole, the
            configuration cannot run.
    """
    spec = loaded.spec
    checkpoint = inspect(checkpoint_folder(loaded))
    _refuse_name(loaded, checkpoint)
    require_complete(checkpoint)
    engine = ENGINES[spec.engine.name]
    installed = find_engine(loaded)
    settled = settled_version(engine) is not None and not spec.engine.python
    version = installed.version.partition("+")[0] if isinstance(installed, InstalledEngine) and not settled else None
    planned = plan_spec(loaded, checkpoint.contents, despite=despite, installed_version=version)
    if isinstance(installed, PreflightRefused):
        raise installed  # what cannot be served anyway is said first
    plan = planned.plan
    if engine.facts.cores_option and not plan.host_cores:
        plan = replace(plan, host_cores=this_host().cores or 0)
    if spec.hosts and isinstance(installed, ContainerEngine):
        raise PreflightRefused(
            "a container image can run on this machine only",
            remedy="name a python instead of the image, or moonpad render --to kubernetes",
        )
    runtime = runtime_of(spec)
    if group:
        deployment = replica_deployment(spec, engine, plan, runtime, number)
    elif isinstance(runtime, Executable):
        deployment = deployment_of(spec, plan, runtime)
    else:
        deployment = engine.processes(plan, runtime)
    ranks = [process.rank for process in deployment.processes if process.role is not Role.ROUTER]
    if spec.hosts and ranks != list(range(len(spec.hosts))):
        raise PreflightRefused(
            f"{engine.name} does not run as one process on each of {len(spec.hosts)} hosts",
            remedy="moonpad render --to shell says how it starts its ranks",
        )
    _require_draft(loaded)
    key_file = str(loaded.resolve(spec.endpoint.api_key_file)) if spec.endpoint.api_key_file else None
    return Prepared(
        loaded=loaded,
        engine=engine,
        installed=installed,
        checkpoint=checkpoint,
        planned=planned,
        plan=plan,
        deployment=deployment,
        rendered=render_shell(deployment) if isinstance(installed, InstalledEngine) else {},
        ports={
            PortRef(process.name, port.name): port.preferred
            for process in deployment.processes
            for port in process.ports
        },
        key=read_key(env=spec.endpoint.api_key_env, file=key_file, environ=os.environ),
        key_file=key_file,
        despite=despite,
        group=group,
    )


def key_source(spec: Spec, key_file: str | None) -> dict[str, str | None]:
    """Where the key can be read again; never the key."""
    return {"env": spec.endpoint.api_key_env, "file": key_file}


def _refuse_name(loaded: LoadedSpec, checkpoint: CheckpointFiles) -> None:
    """A name of the catalogue plans without the weights; a start needs them."""
    if checkpoint.folder.is_dir() or (model := find_model(loaded.spec.model)) is None:
        return
    raise CheckpointError(
        f"{loaded.spec.model} names {model.id}, whose weights are not here: there is no folder {checkpoint.folder}",
        remedy="download them, and give their folder as `model`",
    )


def _require_draft(loaded: LoadedSpec) -> None:
    name = loaded.spec.settings.draft
    if name and not (loaded.resolve(name) / "config.json").is_file():
        raise CheckpointError(
            f"the draft {name} is not here: there is no {loaded.resolve(name) / 'config.json'}",
            remedy="download it, and give its folder as [settings] draft",
        )


def find_engine(loaded: LoadedSpec) -> InstalledEngine | ContainerEngine | PreflightRefused:
    """The engine of the spec: the user's own, used as it is, or the one that `moonpad engine install` made; where there
    is none, the refusal."""
    spec = loaded.spec
    try:
        if spec.engine.image:
            return find_client(spec.engine.image)
        if spec.engine.python:
            return engine_from_python(spec.engine.name, loaded.resolve(spec.engine.python))
    except PreflightRefused as refused:
        return refused
    installed = find(spec.engine.name)
    if installed is not None:
        return installed
    installs = ENGINES[spec.engine.name].recipe is not None
    remedy = f"moonpad engine install {spec.engine.name}" if installs else BRING_YOUR_OWN
    finding = Finding(Severity.ERROR, Code.ENGINE_MISSING, "engine", f"{spec.engine.name} is not installed", remedy)
    return PreflightRefused("the engine cannot be started", findings=(finding,))
