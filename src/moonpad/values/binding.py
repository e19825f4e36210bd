"""`bind()`: a deployment whose references are resolved for a real run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from msgspec import Struct
from msgspec import field as in_struct

from moonpad.values.deployment import Deployment, Executable, Process
from moonpad.values.references import Arg, HostRef, PathRef, PortRef, RankRef, Ref, SecretRef, holds_secret, parts
from moonpad.values.secret import Secret


class Bindings(Struct, frozen=True):
    """What the machine decided. Keys: node, (process, port name), node, place, secret name."""

    hosts: Mapping[str, str] = in_struct(default_factory=dict)
    ports: Mapping[PortRef, int] = in_struct(default_factory=dict)
    ranks: Mapping[str, int] = in_struct(default_factory=dict)
    paths: Mapping[str, str] = in_struct(default_factory=dict)
    secrets: Mapping[str, Secret] = in_struct(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BoundProcess:
    """Ready to be started. `secret_env` is apart from `env`, so that all but the secrets may be written down.

    `after_stop` are commands that end what runs outside the process's own tree, as a container does; they do no harm
    where nothing is left, and the exit status of the last one says whether all is gone.

    `after_end` are commands that clear away what a next start would still need; run once, when the run is over.

    `reattach` is for a process that only shows what it started: a command that prints something while that
    runs, nothing once it has ended, and fails where that is unknown; and the command that attaches again.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    secret_env: Mapping[str, Secret]
    files: tuple[tuple[str, str, int], ...] = field(repr=False)  # one may hold the key
    after_stop: tuple[tuple[str, ...], ...] = ()
    after_end: tuple[tuple[str, ...], ...] = ()
    reattach: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    patience_s: float | None = None
    """How long `reattach` is tried; None: as long as a daemon takes to restart."""
    beats: bool = False
    """Whether its standard input carries a heartbeat while the run is supervised here."""
    log: str = ""
    """The name of its own log; "": that of the engine."""


def bind(deployment: Deployment, bindings: Bindings) -> tuple[BoundProcess, ...]:
    """Resolves every reference of every process that runs as an executable.

    Raises:
        KeyError: a reference has no binding; the message names it.
        ValueError: a process runs in a container image; `render/docker_run.py` binds it.
    """
    return tuple(bind_process(process, bindings) for process in deployment.processes)


def bind_process(process: Process, bindings: Bindings) -> BoundProcess:
    """As `bind`, one process alone."""
    if not isinstance(process.runtime, Executable):
        raise ValueError(f"process {process.name} runs in a container image")
    env, secret_env = environment(process.env, bindings)
    return BoundProcess(
        name=process.name,
        argv=tuple(text_of(arg, bindings) for arg in (*process.runtime.prefix, *process.argv)),
        env=env,
        secret_env=secret_env,
        files=tuple(
            (file.path, "".join(text_of(arg, bindings) for arg in file.content), file.mode) for file in process.files
        ),
    )


def environment(variables: Mapping[str, Arg], bindings: Bindings) -> tuple[dict[str, str], dict[str, Secret]]:
    """The environment of a process: what may be written down, and the secrets."""
    env: dict[str, str] = {}
    secret_env: dict[str, Secret] = {}
    for name, arg in variables.items():
        if holds_secret(arg):
            secret_env[name] = Secret(text_of(arg, bindings))
        else:
            env[name] = text_of(arg, bindings)
    return env, secret_env


def text_of(arg: Arg, bindings: Bindings) -> str:
    """One argument, its references resolved. Raises KeyError where one has no binding."""
    if isinstance(arg, str):
        return arg
    return "".join(part if isinstance(part, str) else resolve(part, bindings) for part in parts(arg))


def resolve(ref: Ref, bindings: Bindings) -> str:
    """The text of one reference. Raises KeyError where it has no binding."""
    try:
        match ref:
            case HostRef(node):
                return bindings.hosts[node]
            case PortRef():
                return str(bindings.ports[ref])
            case RankRef(node, times):
                return str(bindings.ranks[node] * times)
            case PathRef(name):
                return bindings.paths[name]
            case SecretRef(name):
                return bindings.secrets[name].reveal()
            case _:
                assert_never(ref)
    except KeyError:
        raise KeyError(f"nothing is bound to {ref}") from None
