"""Forks that are started by the program of the engine that they are of: by their name, or by options of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from moonpad.engines.foreign_names import FORKS_BY_PROGRAM
from moonpad.explain.commands import Command

_LONGEST = 2000
"""A longer line is data, not prose."""


def with_forks(commands: Sequence[Command], lines: Sequence[str]) -> list[Command]:
    named = {
        program: any(re.search(pattern, line[:_LONGEST], re.IGNORECASE) for line in lines)
        for program, (pattern, _, _) in FORKS_BY_PROGRAM.items()
        if any(command.program == program for command in commands)
    }
    return [
        replace(command, fork=FORKS_BY_PROGRAM[command.program][1])
        if command.program in named and (named[command.program] or _has_its_options(command))
        else command
        for command in commands
    ]


def _has_its_options(command: Command) -> bool:
    own = FORKS_BY_PROGRAM[command.program][2]
    return any(word.text.partition("=")[0] in own for word in command.argv)
