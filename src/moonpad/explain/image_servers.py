"""Containers of images whose entrypoint is the server, with nothing behind the image: what the text says of the model
and of the layout is meant for that server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from moonpad.engines.file_names import SERVED_BY_DEFAULT
from moonpad.engines.image_names import MODEL_OF_NO_ARGUMENTS
from moonpad.explain.commands import Command
from moonpad.explain.documents.spoken_layouts import NAMED_MODEL, UNSAID
from moonpad.explain.documents.text_hints import version_of_image
from moonpad.explain.flag_lists import serving_programs
from moonpad.explain.programs import program_table, served_by_image
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.word_lists import more
from moonpad.values.records import replace
from moonpad.values.versions import since

_MOST: Final = 40


def image_servers(state: ScriptState) -> Iterator[Command]:
    """Of the first such container, where the text names one model."""
    command = next((each for each in state.commands[:_MOST] if is_bare_server(each)), None)
    if command is None or command.container is None or command.container.image is None:
        return
    state.budget.work(len(state.text.clean) // 20, "the model of its image")
    models = {match[0]: match for match in NAMED_MODEL.finditer(state.text.clean)}
    if len(models) != 1:
        return
    program = served_by_image(command.container.image.text)
    name, match = next(iter(models.items()))
    word = state.text.word(name, match.start(), match.end())
    named = (replace(word, text=serving_programs()[program].model or "--model", pieces=()), word)
    yield replace(command, program=program, prefix=(), argv=(*named, more(UNSAID, command.line)))


def is_bare_server(command: Command) -> bool:
    """Whether an image is started that serves a model of its own where none is given, and nothing is given."""
    container = command.container
    if container is None or container.image is None or command.program != "docker" or command.argv:
        return False
    return MODEL_OF_NO_ARGUMENTS.fullmatch(container.image.text) is not None and not container.has("--entrypoint")


def served_alone(image: str) -> str:
    """What it serves where no model is given: `Qwen/Qwen3-0.6B`, and where its release is not known, in words."""
    engine = program_table().engines[served_by_image(image)]
    held = version_of_image(image)
    version = held[1] if held is not None and held[0] == engine else ""
    if not version:
        return "a small model that is the engine's default"
    return next((model for first, model in SERVED_BY_DEFAULT if since(version, first)), SERVED_BY_DEFAULT[-1][1])
