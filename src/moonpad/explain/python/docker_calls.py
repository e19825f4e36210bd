"""Containers that a program starts by Docker's library: `client.containers.run(image, command, ipc_mode="host")`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.manifests.containers import Container, read_container
from moonpad.explain.python.data import Listing, Table, Text, Value
from moonpad.explain.shell.interpreter import ScriptState
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

STARTS: Final = ("containers.run", "containers.create")
_OPTIONS: Final[Mapping[str, str]] = {
    "ipc_mode": "--ipc",
    "shm_size": "--shm-size",
    "runtime": "--runtime",
    "network_mode": "--network",
    "name": "--name",
}
GIVE_DEVICES: Final = frozenset({"device_requests", "runtime", "devices", "privileged"})
"""Arguments by which it may have devices."""
_LONGEST: Final = 4000


def read_docker_call(table: Table, whole: Source, state: ScriptState, env: Mapping[str, Word]) -> bool:
    """Adds the server of such a call; False where it is another call, or the image is not a text."""
    image = table.fields.get("#0", table.fields.get("image"))
    if not table.call.endswith(STARTS) or not isinstance(image, Text):
        return False
    options: list[Word] = []
    for name, option in _OPTIONS.items():
        given = table.fields.get(name)
        if isinstance(given, Text) and isinstance(given.value, str):
            options += (replace(table.at, text=option, pieces=()), given.word)
    if "device_requests" in table.fields:
        options += (replace(table.at, text=text, pieces=()) for text in ("--gpus", "all"))
    arguments = list(_words(table.fields.get("#1", table.fields.get("command"))))
    container = Container(
        table.at,
        image.word,
        list(_words(table.fields.get("entrypoint"))),
        arguments,
        {**env, **_environment(table.fields.get("environment"))},
        options,
    )
    read_container(container, whole, state)
    return True


def _words(value: Value | None) -> Iterator[Word]:
    """Of a list, and of a text, which the library splits as a shell does."""
    if isinstance(value, Listing):
        value.used = True
        yield from (item.word for item in value.items if isinstance(item, Text))
    elif isinstance(value, Text) and isinstance(value.value, str):
        value.used = True
        try:
            words = shlex.split(value.value[:_LONGEST])
        except ValueError:  # a quote that is never closed
            return
        yield from (replace(value.word, text=word, pieces=()) for word in words)


def _environment(value: Value | None) -> dict[str, Word]:
    if isinstance(value, Table):
        value.used = True
        return {name: each.word for name, each in value.fields.items() if isinstance(each, Text)}
    return {}
