"""Lists of options, and files, that only repeat what a command of the text starts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from moonpad.explain.commands import Command
from moonpad.explain.programs import starts_with_options
from moonpad.explain.shell.interpreter import ScriptState

_EXPLAINED: Final = re.compile(r"[ \t>]*[-*+][ ]+[*_]{0,2}`[^`\n]{1,200}`[*_]{0,2}[ ]?(?:[:：]|-{1,2}[ ]|[–—(])[ ]?\S")
"""`- `--tensor-parallel-size 8`: the model is split over 8 devices`."""
_LONGEST: Final = 400
_EXAMPLES: Final = 3
"""Lines that give an option another value make a list of examples; two may be a slip."""


def without_parts(state: ScriptState) -> list[Command]:
    """Without the lists of flags that only tell what stands in a whole command, or that are examples of their own."""
    parts = [command for command in state.commands if command.program == "fragment"]
    whole = [command for command in state.commands if parts and starts_with_options(command)]
    state.budget.work(len(parts) * len(whole) + sum(len(command.argv) for command in whole), "its lists of flags")
    words = [{word.text for word in command.argv} for command in whole]
    told = [part for part in parts if any({word.text for word in part.argv} <= own for own in words)]
    given = [options for command in whole if (options := _given(command))] if len(told) < len(parts) else []
    told += [part for part in parts if part not in told and given and _is_explained(part, state, given)]
    told += [part for part in parts if part not in told and whole and _is_of_examples(part)]
    return [command for command in state.commands if command not in told] if told else list(state.commands)


def _is_explained(part: Command, state: ScriptState, given: list[Mapping[str, str]]) -> bool:
    """Whether each item of the list says what its option is for, and a whole command has two thirds of them or more,
    and none with another value: `the manifests start it with:` above the command itself."""
    own = _given(part)
    lines = {word.line for word in part.argv}
    if len(own) < 2 or not all(_EXPLAINED.match(state.text.lines[line - 1][:_LONGEST]) for line in lines):
        return False
    for options in given:
        same = sum(options.get(name) == value for name, value in own.items())
        if 3 * same >= 2 * len(own) and all(options.get(name, value) == value for name, value in own.items()):
            return True
    return False


def _is_of_examples(part: Command) -> bool:
    """Whether its lines are one example each, of which a reader takes one: an option stands there again with another
    value, on three lines."""
    lines: dict[int, dict[str, str]] = {}
    for word, behind in pairwise((*part.argv, *part.argv[:1])):
        if word.text.startswith("--"):
            name, _, value = word.text.partition("=")
            value = value or (behind.text if behind.line == word.line and not behind.text.startswith("-") else "")
            lines.setdefault(word.line, {})[name] = value
    named = [(name, value) for options in lines.values() for name, value in options.items() if value]
    again = {name for name, value in named if any(other != value for known, other in named if known == name)}
    return sum(bool(again & options.keys()) for options in lines.values()) >= _EXAMPLES


def _given(command: Command) -> Mapping[str, str]:
    """The values of its options by their names."""
    given: dict[str, str] = {}
    name = ""
    for word in command.argv:
        if word.text.startswith("-"):
            name, _, value = word.text.partition("=")
            given[name] = value
        elif name and not given[name]:
            given[name] = word.text
    return given


def without_named_files(state: ScriptState) -> list[Command]:
    """Without what a file for another tool seems to start, where a server's command names that file: it is told by it
    how to run, and nothing else starts."""
    made = [command for command in state.commands if command.custom]
    if not made or not state.files:
        return list(state.commands)
    servers = [command for command in state.commands if starts_with_options(command) and not command.custom]
    state.budget.work(len(state.files) + sum(len(command.argv) for command in servers), "its files")
    named = {word.text.rpartition("=")[2] for command in servers for word in command.argv}
    files = [file for path, file in state.files.items() if path in named]
    spans = [(file.line, file.line + file.text.count("\n")) for file in files]
    told = [command for command in made if any(first <= command.line <= last for first, last in spans)]
    return [command for command in state.commands if command not in told] if told else list(state.commands)
