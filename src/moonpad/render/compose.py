"""A Deployment as compose files, `node-0/compose.yaml`: one engine a file, since a compose file is for one host.

Compose interpolates `${…}` in every value, so a dollar of ours is doubled, and references are the variables of the
shell's files. Secrets come from the environment of `docker compose up` and are in no file.
Source: https://docs.docker.com/reference/compose-file/.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from moonpad import __version__
from moonpad.engines.routers import is_routed
from moonpad.render.containers import beside, contain, grants, image_note, model_mounts, one_token, published
from moonpad.render.env_variables import expansion_of
from moonpad.render.rendered import Rendered, yaml_text
from moonpad.values.deployment import Deployment, HttpProbe, Image, Mount, Process, Role
from moonpad.values.errors import UsageError
from moonpad.values.references import Arg, HostRef, RankRef, SecretRef, parts

PROBE_EVERY_S: Final = 10
PROBE_LIMIT_S: Final = 60
API_KEY: Final = SecretRef("api_key")
FILE: Final = "compose.yaml"
CONDITIONS: Final = {"started": "service_started", "ready": "service_healthy"}


def render_compose(deployment: Deployment) -> Mapping[str, Rendered]:
    """One compose file a node, or one for all copies and their router: path → text and mode.

    Raises:
        UsageError: a node has several processes.
        ValueError: a process runs in no container image.
    """
    if is_routed(deployment):
        return {FILE: Rendered(_text(deployment, list(deployment.processes), FILE))}
    nodes: dict[str, list[Process]] = {}
    for process in deployment.processes:
        nodes.setdefault(process.node, []).append(process)
    files: dict[str, Rendered] = {}
    for node, processes in nodes.items():
        if sum(process.role is not Role.ROUTER for process in processes) > 1:
            raise UsageError(f"{node} has several processes, and they are not written for compose yet")
        path = f"{node}/{FILE}"
        files[path] = Rendered(_text(deployment, processes, path))
    return files


def _text(deployment: Deployment, processes: list[Process], path: str) -> str:
    node, routed = processes[0].node, is_routed(deployment)
    names = " and ".join(process.name for process in processes)
    notes = (
        f"Written by moonpad {__version__}. Runs {names}{'' if routed else f' of {node}'}:",
        f"  docker compose -f {path} up",
        "Variables come from the environment; those without a default must be set there.",
        *(line for process in processes for line in image_note(process)),
    )
    services = {process.name: _Service(deployment, process).document() for process in processes}
    project = deployment.title if routed else f"{deployment.gangs[0].name}-{node}"
    return yaml_text([{"name": f"moonpad-{project}", "services": services}], notes)


@dataclass(frozen=True, slots=True)
class _Service:
    deployment: Deployment
    process: Process

    def document(self) -> dict[str, Any]:
        process, contained, given = self.process, contain(self.process), grants(self.process.needs)
        mounts = (*model_mounts(process), *process.mounts, *(Mount(folder, folder) for folder in given.folders))
        service: dict[str, Any] = {"image": contained.image}
        if contained.entrypoint:
            service["entrypoint"] = [self.text(arg) for arg in contained.entrypoint]
        service["command"] = [self.text(arg) for arg in contained.argv]
        env = dict(contained.env)
        if any(API_KEY in parts(arg) for arg in env.values()):
            env["MOONPAD_API_KEY"] = API_KEY  # the probe asks with it
        service["environment"] = {name: self.text(arg) for name, arg in env.items()}
        if mounts:
            service["volumes"] = [self._volume(mount) for mount in mounts]
        service |= self._network()
        if isinstance(process.runtime, Image) and is_routed(self.deployment) and process.after:
            service["depends_on"] = {after.process: {"condition": CONDITIONS[after.state]} for after in process.after}
        if process.needs.shm_bytes:
            service["shm_size"] = f"{process.needs.shm_bytes}b"
        if given.gpus:
            gpus = {"driver": "nvidia", "count": given.gpus, "capabilities": ["gpu"]}
            service["deploy"] = {"resources": {"reservations": {"devices": [gpus]}}}
        for key, values in (
            ("devices", given.devices),
            ("group_add", given.groups),
            ("cap_add", given.capabilities),
            ("security_opt", given.security),
        ):
            if values:
                service[key] = list(values)
        if given.memlock:
            service["ulimits"] = {"memlock": -1}
        service["stop_grace_period"] = f"{process.stop.grace_s + process.stop.drain_s:g}s"
        # Ranks of several hosts fail as one: one of them started again alone would wait for the others without end.
        gang = next(gang for gang in self.deployment.gangs if process in gang.processes)
        service["restart"] = "no" if len(gang.processes) > 1 else "on-failure:3"
        if isinstance(process.ready, HttpProbe):
            service["healthcheck"] = self._healthcheck(process.ready)
        return service

    def _network(self) -> dict[str, Any]:
        runtime = self.process.runtime
        if isinstance(runtime, Image) and not runtime.own_network:
            return {"network_mode": "host"}
        if isinstance(runtime, Image) and runtime.beside:
            return {"network_mode": f"service:{runtime.beside}"}
        ports = []
        for port, reach in published((self.process, *beside(self.deployment, self.process))):
            number = self.text(port)
            ports.append(f"{'127.0.0.1:' if reach == 'loopback' else ''}{number}:{number}")
        return {"ports": ports} if ports else {}

    def _volume(self, mount: Mount) -> dict[str, Any]:
        # Without `create_host_path` a folder that is missing is an error, not an empty checkpoint.
        volume: dict[str, Any] = {"type": "bind", "source": self.text(mount.source), "target": mount.target}
        return volume | {"read_only": mount.read_only, "bind": {"create_host_path": False}}

    def _healthcheck(self, probe: HttpProbe) -> dict[str, Any]:
        port = self.text(probe.port)
        return {
            "test": ["CMD", *one_token(port, self.deployment.served_name.replace("$", "$$"), PROBE_LIMIT_S - 5)],
            "interval": f"{PROBE_EVERY_S * 6}s",
            "timeout": f"{PROBE_LIMIT_S}s",
            "retries": 3,
            "start_period": f"{self.process.start_budget_s:g}s",
            "start_interval": f"{PROBE_EVERY_S}s",
        }

    def text(self, arg: Arg) -> str:
        return "".join(self._piece(part) for part in parts(arg))

    def _piece(self, part: Any) -> str:
        if isinstance(part, str):
            return part.replace("$", "$$")
        if isinstance(part, RankRef):
            return str(self.process.rank * part.times)  # a file is for one host
        if isinstance(part, HostRef) and part.node != self.process.node and self._in_own_network:
            return part.node  # a service, by whose name the others of the file reach it
        return expansion_of(part, self.deployment)

    @property
    def _in_own_network(self) -> bool:
        runtime = self.process.runtime
        return is_routed(self.deployment) and isinstance(runtime, Image) and runtime.own_network
