"""Documents of a run folder carry the number of their layout. An unknown layout is refused, never guessed; an older one
is read with the defaults of its time."""

from __future__ import annotations

from typing import Any, Final

from moonpad.values.errors import ContactLost

SCHEMA: Final = 2
"""1: a keeper alone. 2: generations of the engine, and a controller that starts the next one."""


class SchemaTooNew(ContactLost):
    """The run's files are of a layout that this moonpad does not know, so its state is unknown."""


def is_known(schema: object) -> bool:
    return type(schema) is int and 1 <= schema <= SCHEMA


def check_schema(schema: object, what: str) -> None:
    """`what` is the run or the file that the number was read from. Raises SchemaTooNew: this moonpad does not know the
    layout of that number."""
    if is_known(schema):
        return
    newer = type(schema) is int and schema > SCHEMA
    wrote = f"was written by a newer moonpad: schema {schema}" if newer else f"has no schema number, but {schema!r}"
    raise SchemaTooNew(f"{what} {wrote}, this one reads 1 and {SCHEMA}", remedy="use the moonpad that wrote it")


def read_about(document: dict[str, Any]) -> dict[str, Any]:
    """run.json. Before schema 2 nothing was started again, nothing was drained, and no port was claimed."""
    return {"policy": {"restarts": 0}, "drain_s": 0.0, "ports": [], **document}


def read_keeper(document: dict[str, Any]) -> dict[str, Any]:
    """keeper.json. Before schema 2 there was one generation, without a controller."""
    return {
        "because": "",
        "controller": None,
        "generation": 1,
        "lost": "",
        "temp_dir": "",
        "cgroup": "",
        "shared_memory": [],
        "log": {"rotations": 0, "dropped_bytes": 0},
        **document,
        "owned": [{"title": "", **process} for process in document.get("owned", ())],
    }
