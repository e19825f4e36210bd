"""Forks that are started by the program of the engine that they are of: by their name, or by options of their own."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from moonpad.engines.foreign_names import FORKS_BY_PROGRAM
from moonpad.explain.commands import Command

_LONGEST = 2000
"""A longer line is data, not prose."""


def with_forks(commands: Sequence[Command], lines: Sequence[str]) -> list[Command]:
    programs = {command.program for command in commands} & FORKS_BY_PROGRAM.keys()
    named = {program for program in programs if _is_named(FORKS_BY_PROGRAM[program][0], lines)}
    return [replace(command, fork=fork) if (fork := _fork_of(command, named)) else command for command in commands]


def _is_named(pattern: str, lines: Sequence[str]) -> bool:
    return any(re.search(pattern, line[:_LONGEST], re.IGNORECASE) for line in lines)


def _fork_of(command: Command, named: Collection[str]) -> str:
    """ "" for none. A list of flags is known by its options alone."""
    for program, (_, title, own) in FORKS_BY_PROGRAM.items():
        if command.program in (program, "fragment") and any(
            word.text.partition("=")[0] in own for word in command.argv
        ):
            return title
        if command.program == program and program in named:
            return title
    return ""
