"""The router of a spec, prepared for a start before the copies that it sends to."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moonpad.engines.base import API
from moonpad.engines.log_grammar import LogGrammar
from moonpad.engines.router_programs import NAME, Router
from moonpad.engines.routers import READINESS, Replica, router_deployment
from moonpad.environments.installed import InstalledEngine, engine_from_python, find, matches
from moonpad.plan.replicas import replica_names, replica_spec, router_of, routing_of
from moonpad.render.proxy import engine_port, front_of, with_front
from moonpad.render.rendered import Rendered
from moonpad.run.prepare import Prepared, key_source, prepare
from moonpad.run.ssh_hosts import SshHost
from moonpad.spec.loader import LoadedSpec
from moonpad.values.binding import Bindings, BoundProcess, bind
from moonpad.values.deployment import Deployment
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.records import replace
from moonpad.values.references import PortRef
from moonpad.values.secret import Secret
from moonpad.values.supervision import Policy

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class PreparedRouter:
    """The router, and the copies that stand behind it, in their order."""

    loaded: LoadedSpec
    router: Router
    installed: InstalledEngine
    copies: tuple[Prepared, ...]
    deployment: Deployment
    ports: Mapping[PortRef, int]
    """Its own alone: each copy claims its own."""

    @property
    def name(self) -> str:
        return self.loaded.spec.name

    @property
    def program(self) -> str:
        return "the router"

    @property
    def log(self) -> LogGrammar:
        return self.router.log

    @property
    def key(self) -> Secret | None:
        """The copies' own: the router passes on what a client sends."""
        return self.copies[0].key

    @property
    def rendered(self) -> Mapping[str, Rendered]:
        return {}

    @property
    def endpoint(self) -> Endpoint:
        """The router's own, on the loopback, also where a front stands before it."""
        return Endpoint(
            f"http://{LOOPBACK}:{self.ports[engine_port(self.deployment)]}/v1",
            self.deployment.served_name,
            self.key,
            self.copies[0].engine.name,
            health_path=READINESS,
            replica_urls=tuple(copy.endpoint.root_url for copy in self.copies),
        )

    @property
    def open_port(self) -> int | None:
        return self.ports[self.deployment.endpoint] if front_of(self.deployment) else None

    @property
    def policy(self) -> Policy:
        """That of the copies; its own start waits for none of them."""
        process = self.deployment.process(NAME)
        return Policy.of({**self.loaded.spec.launch.model_dump(), "start_timeout_s": process.start_budget_s})

    @property
    def stop_grace_s(self) -> float:
        return self.loaded.spec.launch.stop_grace_s

    @property
    def far(self) -> Mapping[str, SshHost]:
        return {}

    @property
    def digest(self) -> str:
        spec = self.loaded.spec.model_dump_json(exclude={"gate", "goal", "launch"})
        words = (spec, str(self.installed.path), *(copy.digest for copy in self.copies))
        return hashlib.sha256("\n".join(words).encode()).hexdigest()

    def bound(self, run_dir: Path) -> tuple[BoundProcess, ...]:
        nodes = {process.node for process in self.deployment.processes}
        copies = dict(zip(_replicas(self.copies), self.copies, strict=True))
        ports = {replica.port: copy.ports[copy.deployment.endpoint] for replica, copy in copies.items()}
        bindings = Bindings(
            hosts=dict.fromkeys((*nodes, *(replica.node for replica in copies)), LOOPBACK),
            ports={**self.ports, **ports},
            paths={"run": str(run_dir), "router": str(self.installed.path)},
        )
        return bind(self.deployment, bindings)

    def about(self) -> dict[str, Any]:
        """As `Startable` has it."""
        spec, endpoint = self.loaded.spec, self.endpoint
        first = self.copies[0]
        assert spec.router is not None  # noqa: S101 - for mypy
        return {
            **first.about(),
            "container": None,  # of the copies, each in its own run
            "group": "",
            "key": key_source(spec, first.key_file) if self.key else None,
            "router": {
                "name": self.router.name,
                "version": self.installed.version,
                "policy": spec.router.policy or self.router.policies[0],
            },
            "replicas": [copy.name for copy in self.copies],
            "replica_urls": list(endpoint.replica_urls),
            "health_path": endpoint.health_path,
        }

    def plan_json(self) -> dict[str, Any]:
        """The plan of one copy."""
        return self.copies[0].plan_json()


def prepare_group(loaded: LoadedSpec, despite: frozenset[Code] = frozenset()) -> PreparedRouter:
    """The copies of a spec with `[router]`, and the router before them. Raises as `prepare` does, of a router too."""
    spec = loaded.spec
    found = router_of(spec)
    assert found is not None  # noqa: S101 - for mypy
    router, table = found
    copies = tuple(
        prepare(_of_copy(loaded, number), despite, group=spec.name, number=number) for number in range(table.replicas)
    )
    installed = find_router(loaded, router)
    routing = routing_of(spec, copies[0].plan, _replicas(copies))
    deployment = router_deployment(router, router.installed(), routing, copies[0].deployment.served_name)
    if spec.endpoint.expose:
        deployment = with_front(deployment, spec.endpoint.port)
    ports = {
        PortRef(process.name, port.name): port.preferred for process in deployment.processes for port in process.ports
    }
    return PreparedRouter(loaded, router, installed, copies, deployment, ports)


def find_router(loaded: LoadedSpec, router: Router) -> InstalledEngine:
    """The router's environment: the user's own, or the one that `moonpad engine install` made.

    Raises:
        PreflightRefused: there is none, or it has another version than the spec names.
    """
    table = loaded.spec.router
    assert table is not None  # noqa: S101 - for mypy
    installed = engine_from_python(router.name, loaded.resolve(table.python)) if table.python else find(router.name)
    install = f"moonpad engine install {router.name}"
    if installed is None:
        raise _refused(f"{router.name} is not installed", install)
    if table.version and not matches(installed.version, table.version):
        remedy = f'set version = "{installed.version}", or name the python of another environment'
        raise _refused(f"{router.name} {table.version} is asked for, and {installed.version} is installed", remedy)
    return installed


def _refused(message: str, remedy: str) -> PreflightRefused:
    finding = Finding(Severity.ERROR, Code.ENGINE_MISSING, "router", message, remedy)
    return PreflightRefused("the router cannot be started", findings=(finding,))


def _of_copy(loaded: LoadedSpec, number: int) -> LoadedSpec:
    return replace(loaded, spec=replica_spec(loaded.spec, number))


def _replicas(copies: tuple[Prepared, ...]) -> tuple[Replica, ...]:
    """As the router's arguments name them."""
    names = replica_names(copies[0].group, len(copies))
    return tuple(Replica(name, name, PortRef(name, API.name)) for name in names)
