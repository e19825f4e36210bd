"""A deployment as commands that a person can paste: addresses are NODE_0, NODE_1 …, ports the preferred ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from moonpad.engines.routers import is_on_loopback
from moonpad.report.shell_line import shell_lines
from moonpad.values.binding import Bindings, BoundProcess, bind
from moonpad.values.deployment import Deployment, Executable, Process
from moonpad.values.references import HostRef, PathRef, PortRef, Ref, SecretRef, parts
from moonpad.values.secret import Secret
from moonpad.values.visible_text import shell_word


@dataclass(frozen=True, slots=True)
class Command:
    """One process as it would be typed on `node`; `files` are (path, text) that it reads."""

    name: str
    node: str
    env: Mapping[str, str]
    argv: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "node": self.node,
            "env": dict(self.env),
            "argv": list(self.argv),
            "files": [{"path": path, "content": text} for path, text in self.files],
        }

    def lines(self) -> Iterator[str]:
        """For a shell: the files that it reads, then the command."""
        for path, text in self.files:
            yield f"cat > {shell_word(path)} <<'EOF'"
            yield from text.rstrip("\n").split("\n")
            yield "EOF"
        yield from shell_lines(self.env, self.argv, shell_word)


def commands_of(deployment: Deployment, model: str, *, here: bool = True) -> tuple[Command, ...]:
    """Every process; `model` is what stands for the checkpoint: its id, or, where it is `here`, its folder.

    The address of a node is a placeholder where there are several, and the loopback where there is one machine.
    """
    bindings = _bindings(deployment, model)
    nodes = {process.name: process.node for process in deployment.processes}
    return tuple(
        Command(
            bound.name,
            nodes[bound.name],
            _env(bound, here),
            bound.argv,
            tuple((path, text) for path, text, _ in bound.files),
        )
        for bound in bind(deployment, bindings)
    )


def _env(bound: BoundProcess, here: bool) -> dict[str, str]:
    env = {**bound.env, **dict.fromkeys(bound.secret_env, "***")}
    if not here:
        env.pop("HF_HUB_OFFLINE", None)  # set because a checkpoint is a folder; an id may have to be downloaded
    return env


def placeholder(node: str) -> str:
    """`NODE_1` for the logical node `node-1`: no shell expands it, and it shows that it is to be replaced."""
    return node.upper().replace("-", "_")


def _bindings(deployment: Deployment, model: str) -> Bindings:
    refs = {ref for process in deployment.processes for ref in _refs(process)}
    paths = {ref.name for ref in refs if isinstance(ref, PathRef)}
    nodes = {ref.node for ref in refs if isinstance(ref, HostRef)}
    return Bindings(
        hosts={node: "127.0.0.1" if is_on_loopback(node, deployment) else placeholder(node) for node in nodes},
        ports={ref: deployment.port_spec(ref).preferred for ref in refs if isinstance(ref, PortRef)},
        ranks={process.node: process.rank for process in deployment.processes},
        paths={name: {"checkpoint": model, "run": "."}.get(name, f"{name.upper()}_FOLDER") for name in paths},
        secrets={ref.name: Secret("") for ref in refs if isinstance(ref, SecretRef)},
    )


def _refs(process: Process) -> Iterator[Ref]:
    prefix = process.runtime.prefix if isinstance(process.runtime, Executable) else ()
    content = (arg for file in process.files for arg in file.content)
    for arg in (*prefix, *process.argv, *process.env.values(), *content):
        if not isinstance(arg, str):
            yield from (part for part in parts(arg) if not isinstance(part, str))
