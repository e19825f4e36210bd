"""A container that a file describes, as the `docker run` that starts the same one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from moonpad.explain.commands import Command, Word
from moonpad.explain.interpreter import ScriptState, Shell
from moonpad.explain.source_text import Source


@dataclass(frozen=True, slots=True)
class Container:
    """`at` is its place in the file. `entrypoint` replaces that of the image, where it is not empty."""

    at: Word
    image: Word
    entrypoint: Sequence[Word]
    arguments: Sequence[Word]
    env: Mapping[str, Word]
    options: Sequence[Word] = ()
    """Of `docker run`."""
    label: str = ""
    controller: Collection[str] = ()
    """Variables that are not the container's own: a controller sets them."""


def read_container(container: Container, source: Source, state: ScriptState) -> None:
    """Adds the command that it starts. `source` is the part of the text that it stands in."""
    at = container.at
    options = list(container.options)
    for name, value in container.env.items():
        options += (replace(at, text="--env"), replace(value, text=f"{name}={value.text}", pieces=()))
    words = [*container.entrypoint, *container.arguments]
    if container.entrypoint:
        options += (replace(at, text="--entrypoint"), words.pop(0))
    before = len(state.commands)
    start = (replace(at, text="docker"), replace(at, text="run"))
    Shell(state, source, label=container.label).command([*start, *options, container.image, *words])
    state.commands[before:] = [_as_in_the_file(command, container) for command in state.commands[before:]]


def _as_in_the_file(command: Command, container: Container) -> Command:
    """Without `docker run` and the variables of the controller. The container stays among the wrappers."""
    outer, *inner = command.wrappers
    words = len(outer.words)
    prefix = command.prefix[words:] if command.prefix[:words] == outer.words else command.prefix
    return replace(
        command,
        prefix=prefix,
        env={name: word for name, word in command.env.items() if name not in container.controller},
        wrappers=(replace(outer, words=()), *inner),
        line=next(iter((*prefix, *command.argv, *outer.words))).line,
    )
