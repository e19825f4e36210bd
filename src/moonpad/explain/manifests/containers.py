"""A container that a file describes, as the `docker run` that starts the same one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from moonpad.engines.chat_names import CHAT_SERVER
from moonpad.engines.foreign_names import DECISIVE
from moonpad.explain.commands import Command, Word
from moonpad.explain.flag_lists import knows_most, with_program
from moonpad.explain.programs import program_named
from moonpad.explain.shell.interpreter import ScriptState, Shell, words_of
from moonpad.explain.source_text import Source
from moonpad.values.records import replace


class Container(Struct, frozen=True):
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
    clears_entrypoint: bool = False
    """It says that there is none: `ENTRYPOINT []`."""


def read_container(container: Container, source: Source, state: ScriptState) -> None:
    """Adds the command that it starts. `source` is the part of the text that it stands in."""
    at = container.at
    options = list(container.options)
    for name, value in container.env.items():
        options += (replace(at, text="--env"), replace(value, text=f"{name}={value.text}", pieces=()))
    words = [*container.entrypoint, *container.arguments]
    if container.entrypoint:
        options += (replace(at, text="--entrypoint"), words.pop(0))
    elif container.clears_entrypoint:
        options += (replace(at, text="--entrypoint"), replace(at, text="", pieces=()))
    before = len(state.commands)
    start = (replace(at, text="docker"), replace(at, text="run"))
    Shell(state, source, label=container.label).command([*start, *options, container.image, *words])
    state.commands[before:] = [_as_in_the_file(command, container) for command in state.commands[before:]]
    if not any(program_named(command.program) for command in state.commands[before:]):
        _flags_in_a_variable(container, state)


def _flags_in_a_variable(container: Container, state: ScriptState) -> None:
    """`LLAMA_ARGS="--ctx-size 4096 …"` of a container whose program is not known: of the engine that knows them."""
    for name, value in container.env.items():
        if " -" not in value.text or not value.text.lstrip().startswith("-"):
            continue
        words = tuple(words_of(Source.inside(value, state.text), state))
        if not value.pieces:
            words = tuple(replace(value, text=word.text, unresolved=word.unresolved) for word in words)
        flags = {word.text.partition("=")[0] for word in words if word.text.startswith("--")}
        fragment = with_program(Command("fragment", words, label=container.label, line=value.line))
        if flags & DECISIVE and fragment.program != "fragment" and knows_most(fragment, flags):
            env = {other: word for other, word in container.env.items() if other != name}
            files = [word for word in env.values() if word.text.endswith(".gguf")]
            if len(files) == 1 and fragment.program == CHAT_SERVER and not flags & {"--model", "--hf-repo"}:
                argv = (replace(files[0], text="--model", pieces=()), files[0], *fragment.argv)
                fragment = replace(fragment, argv=argv)
            state.add(replace(fragment, env=env, more=f"what reads {name}"))


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
