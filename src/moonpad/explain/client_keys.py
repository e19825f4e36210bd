"""Keys of hosted services that a guide exports for clients, above a command that starts a server."""

from __future__ import annotations

from moonpad.engines.surrounding_names import CLIENT_KEYS
from moonpad.explain.commands import Command
from moonpad.explain.programs import is_server
from moonpad.values.records import replace


def without_client_keys(command: Command) -> Command:
    """A server's command without those that are exported above it, and that none of its words asks for."""
    if not is_server(command.program) or command.container is not None:
        return command
    asked = {name for word in command.words for name in word.unresolved}
    needless = {
        name
        for name, word in command.env.items()
        if CLIENT_KEYS.fullmatch(name) and word.line < command.line and name not in asked
    }
    if not needless:
        return command
    return replace(command, env={name: word for name, word in command.env.items() if name not in needless})
