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
    return [replace(command, fork=_fork_of(command, lines)) for command in commands]


def _fork_of(command: Command, lines: Sequence[str]) -> str:
    """ "" for none. A list of flags is known by its options alone."""
    for program, (pattern, title, own) in FORKS_BY_PROGRAM.items():
        if command.program not in (program, "fragment"):
            continue
        if any(word.text.partition("=")[0] in own for word in command.argv):
            return title
        if command.program == program and any(re.search(pattern, line[:_LONGEST], re.IGNORECASE) for line in lines):
            return title
    return ""
