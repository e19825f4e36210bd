"""Lists of options, and files, that only repeat what a command of the text starts."""

from __future__ import annotations

from moonpad.explain.commands import Command
from moonpad.explain.programs import starts_with_options
from moonpad.explain.shell.interpreter import ScriptState


def without_parts(state: ScriptState) -> list[Command]:
    """Without the lists of flags that only tell what stands in a whole command."""
    parts = [command for command in state.commands if command.program == "fragment"]
    whole = [command for command in state.commands if parts and starts_with_options(command)]
    state.budget.work(len(parts) * len(whole) + sum(len(command.argv) for command in whole), "its lists of flags")
    words = [{word.text for word in command.argv} for command in whole]
    told = [part for part in parts if any({word.text for word in part.argv} <= own for own in words)]
    return [command for command in state.commands if command not in told] if told else list(state.commands)


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
