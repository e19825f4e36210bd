"""What is to run, the seam of the program: an engine makes it, renderers write it down, the supervisor runs it,
so that what is rendered is what is run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import force_setattr

from moonpad.values.platform import Platform
from moonpad.values.references import Arg, PortRef, holds_secret


class Role(StrEnum):
    ENGINE = "engine"
    ROUTER = "router"
    LAUNCHER = "launcher"


class Executable(Struct, frozen=True):
    """Run in the environment of the host: `prefix` comes before the arguments."""

    prefix: tuple[Arg, ...]


class Image(Struct, frozen=True):
    """Run in a container. `reference` is `name@sha256:…` where the digest is known.

    In a network of its own (`own_network`) the engine may listen on every interface: publishing its port decides who
    reaches it. In the host's network it may not. `beside`: the process whose network it shares, so that the loopback of
    one is that of the other.
    """

    reference: str
    entrypoint: tuple[Arg, ...] = ()
    own_network: bool = True
    beside: str = ""


Runtime = Executable | Image


class File(Struct, frozen=True):
    """A file that the process needs; `path` is relative to the run folder."""

    path: str
    content: tuple[Arg, ...]
    mode: int = 0o644

    def __post_init__(self) -> None:
        path = PurePosixPath(self.path)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"the file {self.path!r} is outside the run folder")


class Mount(Struct, frozen=True):
    source: Arg
    target: str
    read_only: bool = True


Reach = Literal["private", "loopback", "cluster", "public"]
"""Who reaches a port. `private`: processes in the same network alone, also where that is a container's own."""


class PortSpec(Struct, frozen=True):
    name: str
    preferred: int
    reach: Reach = "loopback"
    count: int = 1
    """How many ports, from this one on."""


class Resources(Struct, frozen=True):
    """What the process asks of its host. `memory_bytes` is host RAM at its peak, weights included."""

    devices: int = 0
    platform: Platform = Platform.CPU
    """What those devices are."""
    memory_bytes: int = 0
    shm_bytes: int = 0
    memlock: bool = False
    rdma: bool = False


class After(Struct, frozen=True):
    process: str
    state: Literal["started", "ready"]


class HttpProbe(Struct, frozen=True):
    """Ready when `path` answers 200 and then one real token comes back.

    The token is part of it: `/health` answers 200 on engines that die on their first request.
    """

    port: PortRef
    path: str = "/health"


class HealthProbe(Struct, frozen=True):
    """Ready when `path` answers 200: for servers that answer no request by themselves, as those of a pool do not."""

    port: PortRef
    path: str = "/health"


class AliveProbe(Struct, frozen=True):
    """For ranks above 0, which serve nothing."""


Probe = HttpProbe | HealthProbe | AliveProbe


class Stop(Struct, frozen=True):
    """INT, then TERM, then KILL, over all descendants until none is left; `grace_s` for the first two together.

    `drain_s`: the engine refuses new requests at the first signal, and ends by itself once those that run are finished,
    at the latest after so long. 0: it cuts them, or goes on taking new ones.
    """

    signals: tuple[str, ...] = ("INT", "TERM", "KILL")
    grace_s: float = 20.0
    drain_s: float = 0.0


class MpiRanks(Struct, frozen=True):
    """What a launcher starts by MPI: `command` as `per_node` ranks on each of `nodes`, the launcher's own first.

    For those who start the ranks without the launcher's arguments: another MPI, or a scheduler.
    """

    command: tuple[Arg, ...]
    nodes: tuple[str, ...]
    per_node: int

    @property
    def count(self) -> int:
        return len(self.nodes) * self.per_node


NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
"""Names of processes, gangs and runs: valid as a DNS label, a file name and an option value at once."""


class Process(Struct, frozen=True):
    """One process of the deployment. `argv` and `env` may hold references; secrets never stand in `argv`."""

    name: str
    role: Role
    node: str
    rank: int
    runtime: Runtime
    argv: tuple[Arg, ...]
    env: Mapping[str, Arg] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    mounts: tuple[Mount, ...] = ()
    ports: tuple[PortSpec, ...] = ()
    needs: Resources = Resources()
    after: tuple[After, ...] = ()
    ready: Probe = AliveProbe()
    start_budget_s: float = 600.0
    stop: Stop = Stop()
    ranks: MpiRanks | None = None
    """Of a launcher; its `argv` starts them by `mpirun`."""

    def __post_init__(self) -> None:
        force_setattr(self, "env", MappingProxyType(dict(self.env)))
        if not NAME.match(self.name):
            raise ValueError(f"a process needs a name like decode-3, got {self.name!r}")
        prefix = self.runtime.prefix if isinstance(self.runtime, Executable) else ()
        if any(holds_secret(arg) for arg in (*prefix, *self.argv)):
            raise ValueError(f"process {self.name}: a secret stands in its arguments")
        for file in self.files:
            if file.mode != 0o600 and any(holds_secret(arg) for arg in file.content):
                raise ValueError(f"process {self.name}: a secret stands in {file.path}, which is not 0600")


class Gang(Struct, frozen=True):
    """Processes that fail and restart as one."""

    name: str
    processes: tuple[Process, ...]


class Deployment(Struct, frozen=True):
    gangs: tuple[Gang, ...]
    endpoint: PortRef
    served_name: str
    name: str = ""
    """Of the whole, where it is more than the name of its first gang."""

    def __post_init__(self) -> None:
        names = [process.name for process in self.processes]
        if len(set(names)) != len(names):
            raise ValueError(f"process names are not unique: {names}")
        self.port_spec(self.endpoint)

    @property
    def title(self) -> str:
        """What files and jobs of it are called."""
        return self.name or self.gangs[0].name

    @property
    def processes(self) -> tuple[Process, ...]:
        return tuple(process for gang in self.gangs for process in gang.processes)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every node that something runs on, those to which a launcher takes its ranks among them."""
        own = (process.ranks.nodes if process.ranks else (process.node,) for process in self.processes)
        return tuple(dict.fromkeys(node for nodes in own for node in nodes))

    def process(self, name: str) -> Process:
        for process in self.processes:
            if process.name == name:
                return process
        raise KeyError(f"no process is named {name!r}")

    def port_spec(self, ref: PortRef) -> PortSpec:
        for port in self.process(ref.process).ports:
            if port.name == ref.name:
                return port
        raise KeyError(f"process {ref.process!r} has no port named {ref.name!r}")
