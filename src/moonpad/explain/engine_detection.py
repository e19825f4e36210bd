"""Which engine a command starts, and which build of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from moonpad.catalog.options.config_keys import key_tables
from moonpad.engines import ENGINES
from moonpad.engines.ascend_names import SHARED_KEYS
from moonpad.engines.text_signs import ALSO_OF_GAUDI
from moonpad.explain.commands import Command, Script
from moonpad.explain.documents.spoken_builds import is_logged, is_on_its_devices, is_paired, is_spoken_of
from moonpad.explain.documents.spoken_capabilities import other_maker
from moonpad.explain.engine_builds import base_of
from moonpad.explain.programs import program_named, program_table
from moonpad.explain.target_detection import Question

_BEGINNING: Final = 300
"""Characters of an object that show whose it is."""
_LONGEST_OBJECT: Final = 2000
_KEY: Final = re.compile(r"\"([a-z][a-zA-Z0-9_]{3,60})\"\s*:")


def engine_of(command: Command, question: Question, script: Script | None = None) -> str | None:
    """The engine that a command starts, its build for the platform that is meant; None where it serves nothing.

    Where the text (`script`) names a build alone, with a version or by variables that only it reads, that is meant.
    """
    program = program_named(command.program)
    if program is None or program.kind != "server":
        return None
    engine = program_table().engines[program.name]
    if question.engine and engine in (question.engine, base_of(question.engine)):
        return question.engine
    if build := next((name for name in ENGINES if _is_build(name, engine, command, question, script)), None):
        return build
    options_alone = not command.prefix and command.container is None and not command.wrappers
    if options_alone and script is not None and (beside := _of_others(engine, command, question, script)):
        return beside
    named = script.versions if script is not None else {}
    builds = [name for name in named if name != engine and base_of(name) == engine]
    if not builds and script is not None:
        script.budget.once(f"builds of {engine}", len(script.lines) // 2, "the text around its engine commands")
        builds = [name for name in ENGINES if name != engine and base_of(name) == engine and is_spoken_of(name, script)]
    elsewhere = question.cluster is not None or (command.container is not None and command.container.image is not None)
    alone = len(builds) == 1 and not elsewhere
    sure = alone and script is not None and (engine not in named or _is_of_build(builds[0], script))
    return builds[0] if sure else engine


def _of_others(engine: str, command: Command, question: Question, script: Script) -> str:
    """The build that every other command of this program in the text starts, for options that stand alone: they are
    added to one of those. "" without one."""
    others = [each for each in script.commands if each.program == command.program and each.prefix]
    script.budget.work(10 * len(others), "the engine of options alone")
    started = {
        next((name for name in ENGINES if _is_build(name, engine, each, question, script)), "") for each in others
    }
    return started.pop() if len(started) == 1 else ""


def _is_of_build(name: str, script: Script) -> bool:
    """Whether a text that names the release of the engine too is about this build of it."""
    return is_logged(name, script) or is_paired(name, base_of(name), script) or is_on_its_devices(name, script)


def _is_build(name: str, engine: str, command: Command, question: Question, script: Script | None) -> bool:
    """Whether the command starts this build of the engine."""
    build = ENGINES[name].command_line.build
    if build is None or build.of != engine:
        return False
    platform = question.cluster.device.platform if question.cluster is not None else None
    image = command.container.image.text if command.container and command.container.image else ""
    words = [word.text for word in command.argv]
    if build.keyed and _has_own_key(name, build.keyed, words):
        return True
    values = {*words, *(f"{flag}={value}" for flag, value in pairwise(words))}
    objects = ["".join(value[:_BEGINNING].split()) for value in values if "={" in value[:_BEGINNING]]
    return (
        (platform is not None and platform is build.platform)
        or (build.image != "" and build.image in image)
        or any(_is_own(variable, build.environment, script) for variable in command.env)
        or any(option in values for option in build.options)
        or any(value.startswith(option) for value in objects for option in build.options if "{" in option)
        or any(word.startswith(option) for word in words for option in build.options if "=" not in option)
    )


def _is_own(variable: str, prefixes: tuple[str, ...], script: Script | None) -> bool:
    """Whether this build reads it, and not another one, of whose devices alone the text speaks."""
    shared = variable.startswith(ALSO_OF_GAUDI) and script is not None and other_maker(script) != ""
    return variable.startswith(prefixes) and not shared


def _has_own_key(name: str, option: str, words: Sequence[str]) -> bool:
    """Whether the option's JSON has a key that this build alone reads."""
    texts = [value for flag, value in pairwise(words) if flag.replace("_", "-") == option]
    texts += [word.partition("=")[2] for word in words if word.replace("_", "-").startswith(f"{option}=")]
    own = {*key_tables(name).get(option, ())} - {*SHARED_KEYS}
    return any(own & {*_KEY.findall(text[:_LONGEST_OBJECT])} for text in texts)
