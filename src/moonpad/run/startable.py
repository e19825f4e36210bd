"""What a start needs to know, of an engine and of a router alike: one gang of processes, under one keeper."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from moonpad.engines.log_grammar import LogGrammar
from moonpad.render.rendered import Rendered
from moonpad.run.ssh_hosts import SshHost
from moonpad.spec.loader import LoadedSpec
from moonpad.values.binding import BoundProcess
from moonpad.values.deployment import Deployment
from moonpad.values.endpoint import Endpoint
from moonpad.values.references import PortRef
from moonpad.values.secret import Secret
from moonpad.values.supervision import Policy


class Startable(Protocol):
    """What is to run under one name. `spec` in `loaded` is its own: a copy behind a router has another name."""

    @property
    def loaded(self) -> LoadedSpec: ...
    @property
    def deployment(self) -> Deployment: ...
    @property
    def rendered(self) -> Mapping[str, Rendered]:
        """The scripts that run the same; empty where there are none."""

    @property
    def ports(self) -> Mapping[PortRef, int]: ...
    @property
    def key(self) -> Secret | None: ...
    @property
    def name(self) -> str: ...
    @property
    def program(self) -> str:
        """What runs, for sentences: `the engine`, `the router`."""

    @property
    def log(self) -> LogGrammar: ...
    @property
    def endpoint(self) -> Endpoint:
        """Where it answers on this machine."""

    @property
    def open_port(self) -> int | None: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def stop_grace_s(self) -> float: ...
    @property
    def digest(self) -> str:
        """Equal where the same is asked for."""

    @property
    def far(self) -> Mapping[str, SshHost]: ...
    def bound(self, run_dir: Path) -> tuple[BoundProcess, ...]: ...
    def about(self) -> dict[str, Any]:
        """What status, verify and down need of this run, beside what every run has."""

    def plan_json(self) -> dict[str, Any]: ...
