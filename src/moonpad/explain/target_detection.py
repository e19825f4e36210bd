"""What a command line is about: which engine in which version, which model, on which devices, and how we know."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from moonpad.catalog.model_row import Model
from moonpad.catalog.models import find_model, models
from moonpad.catalog.options import versions
from moonpad.engines import ENGINES
from moonpad.explain.commands import Command, Script
from moonpad.explain.programs import program_named, program_table
from moonpad.explain.results import shortened
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.cluster import Cluster
from moonpad.values.versions import checked_version

# The names of checkpoints in prose: "Kimi-K2-Thinking", "Kimi K2.5".
_NAME: Final = re.compile(r"Kimi[- ]K[0-9][\w.]*(?:[- ][A-Za-z0-9.]+){0,4}", re.ASCII | re.IGNORECASE)
# `org/name` as on Hugging Face, and no folder.
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_SERIES: Final = re.compile(r"v?[0-9]{1,4}\.[0-9]{1,4}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Question:
    """What the person who asks has said beside the command line."""

    checkpoint: Checkpoint | None = None
    cluster: Cluster | None = None
    version: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    text: str
    because: str


def engine_of(command: Command, question: Question) -> str | None:
    """The engine that a command starts, its build for the platform that is meant; None where it serves nothing."""
    program = program_named(command.program)
    if program is None or program.kind != "server":
        return None
    engine = program_table().engines[program.name]
    return next((name for name in ENGINES if _is_build(name, engine, command, question)), engine)


def _is_build(name: str, engine: str, command: Command, question: Question) -> bool:
    """Whether the command starts this build of the engine."""
    build = ENGINES[name].command_line.build
    if build is None or build.of != engine:
        return False
    platform = question.cluster.device.platform if question.cluster is not None else None
    image = command.container.image.text if command.container and command.container.image else ""
    words = [word.text for word in command.argv]
    values = {*words, *(f"{flag}={value}" for flag, value in pairwise(words))}
    return (
        (platform is not None and platform is build.platform)
        or (build.image != "" and build.image in image)
        or any(variable.startswith(build.environment) for variable in command.env)
        or any(option in values for option in build.options)
        or any(word.startswith(option) for word in words for option in build.options if "=" not in option)
    )


def version_of(engine: str, script: Script, question: Question) -> Version:
    """The version that was asked for or named, else "" for the newest that the catalogue knows.

    Raises UsageError where --engine-version is neither a version number nor a channel like `nightly`.
    """
    if question.version:
        return _of_series(engine, checked_version(question.version), "as asked")
    line = ENGINES[engine].command_line
    # A build that has no name of its own in texts is called what it is a build of.
    for name in (engine, line.build.of) if line.build and not line.names else (engine,):
        if named := script.versions.get(name):
            return _of_series(engine, named, f"the text names {name} {named}")
        if least := script.minimum_versions.get(name):
            return Version("", f"the text asks for {name} {least} or later: judged by the newest")
    return Version("", "none is named: judged by the newest")


def _of_series(engine: str, text: str, because: str) -> Version:
    """`0.11` is no release: it stands for the newest of that series."""
    recorded = versions(ENGINES[engine].program)
    if text in recorded or not _SERIES.fullmatch(text):
        return Version(text, because)
    series = [version for version in recorded if version.startswith(f"{text.removeprefix('v')}.")]
    return Version(series[-1], f"{because}, the newest of {text}") if series else Version(text, because)


def model_of(written: str, served: str, commands: Sequence[Command], script: Script) -> tuple[Model | None, str]:
    """The checkpoint of the catalogue, and how it was found; None, and why, where it is not known.

    A folder, a placeholder or nothing is taken for what the text around it names. `served` is the name that clients
    use.
    """
    unknown = f'no checkpoint of the catalogue is called "{shortened(written, 80)}"' if written else "no model is named"
    if written and (model := find_model(written)) is not None:
        return model, f"named {written}"
    if _REPOSITORY.fullmatch(written):
        close = difflib.get_close_matches(written, list(models()), n=1, cutoff=0.8)
        return None, f"{unknown} (did you mean {close[0]}?)" if close else unknown
    if served and (model := find_model(served)) is not None:
        return model, f"served as {served}"
    headings = [command.heading or "" for command in commands]
    for where, texts in (("the heading", headings), ("the text", script.lines)):
        if model := _named_in(texts):
            return model, f"{where} names {model.id}"
    return None, unknown


def is_other_model(written: str) -> bool:
    """Whether a repository is named that is no Kimi's."""
    return bool(_REPOSITORY.fullmatch(written)) and "kimi" not in written.casefold()


def _named_in(texts: Iterable[str]) -> Model | None:
    """The first checkpoint that is named in full."""
    known = {model.id.rpartition("/")[2].casefold(): model for model in reversed(tuple(models().values()))}
    family: Model | None = None
    for text in texts:
        for name in _NAME.findall(text[:2000]):
            words = [word.strip(".") for word in name.casefold().replace(" ", "-").split("-")]
            for length in range(len(words), 1, -1):
                if model := known.get("-".join(words[:length])):
                    return model
            if words[:2] == ["kimi", "k2"] and family is None:
                family = known.get("kimi-k2-instruct")
    return family
