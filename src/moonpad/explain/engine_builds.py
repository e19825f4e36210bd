"""Engines and the builds of them for other devices, as vLLM-Ascend is one of vLLM."""

from __future__ import annotations

from functools import lru_cache

from moonpad.engines import ENGINES
from moonpad.explain.commands import Script
from moonpad.explain.programs import program_table


def base_of(engine: str) -> str:
    """The engine that it is a build of; itself where it is none."""
    build = ENGINES[engine].command_line.build
    return build.of if build else engine


@lru_cache(maxsize=4)
def engines_started(script: Script) -> frozenset[str]:
    """Those that its commands start, builds as what they are builds of."""
    started = {program_table().engines.get(command.program, "") for command in script.commands}
    return frozenset(base_of(engine) for engine in started if engine)
