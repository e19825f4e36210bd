"""Forks that are started by the program of the engine that they are of: by their name, or by options of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from moonpad.engines.forks import FORKS_BY_PROGRAM, Fork
from moonpad.explain.commands import Command
from moonpad.values.records import replace

_LONGEST = 2000
"""A longer line is data, not prose."""


def with_forks(commands: Sequence[Command], lines: Sequence[str]) -> list[Command]:
    programs = {command.program for command in commands}
    texts = {line[:_LONGEST] for line in lines}
    named = [fork for fork in FORKS_BY_PROGRAM if fork.program in programs and _is_meant(fork, texts)]
    return [replace(command, fork=title) if (title := _fork_of(command, named)) else command for command in commands]


def _is_meant(fork: Fork, texts: Set[str]) -> bool:
    return _is_named(fork.named, texts) and not (fork.otherwise and _is_named(fork.otherwise, texts))


def _is_named(pattern: str, texts: Set[str]) -> bool:
    return any(re.search(pattern, text, re.IGNORECASE) for text in texts)


def _fork_of(command: Command, named: Sequence[Fork]) -> str:
    """ "" for none. A list of flags is known by its options alone."""
    for fork in FORKS_BY_PROGRAM:
        if command.program in (fork.program, "fragment") and any(
            word.text.partition("=")[0] in fork.options for word in command.argv
        ):
            return fork.title
        if command.program == fork.program and fork in named:
            return fork.title
    return ""
