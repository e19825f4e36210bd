"""The line of a key. tomllib keeps no positions, and neither does tomlkit, so the second would buy nothing for reading.

Statements of TOML end at a line's end: whole lines are collected until they parse by themselves, and what they define
is noted under their first line. Called only when there is something to complain of.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

KeyPath = tuple[str | int, ...]

# Half-finished statements are parsed again with each further line, so the whole work is bounded by characters.
MAX_PARSED_CHARS: Final = 500_000


def statements(text: str) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """(first line, what it defines by itself) of each statement; None for the last one where it never ends."""
    start, pending, budget = 1, "", MAX_PARSED_CHARS
    for number, line in enumerate(text.split("\n"), 1):
        if not pending:
            start = number
        pending += line + "\n"
        budget -= len(pending)
        if budget < 0:
            return
        try:
            definitions = tomllib.loads(pending)
        except (ValueError, RecursionError):
            continue
        pending = ""
        if definitions:
            yield start, definitions
    if pending:
        yield start, None


def key_lines(text: str) -> Mapping[KeyPath, int]:
    """The first line of every key and table of a valid document, as far as the bound allows."""
    lines: dict[KeyPath, int] = {}
    table: KeyPath = ()
    counts: dict[KeyPath, int] = {}
    source = text.split("\n")
    for line, definitions in statements(text):
        if definitions is None:
            break
        if source[line - 1].lstrip().startswith("["):
            table = _header_path(definitions, counts)
            for end in range(1, len(table) + 1):
                lines.setdefault(table[:end], line)
        else:
            for path in _paths(definitions):
                lines.setdefault((*table, *path), line)
    return lines


def line_of(path: KeyPath, lines: Mapping[KeyPath, int]) -> int | None:
    """The line of the key, else of the nearest thing that holds it."""
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), None)


def _header_path(definitions: Mapping[str, Any], counts: dict[KeyPath, int]) -> KeyPath:
    """The table that `[a.b]` or `[[a.b]]` opens, with the index for the latter."""
    path: KeyPath = ()
    value: Any = definitions
    while isinstance(value, dict) and value:
        ((key, value),) = value.items()
        path = (*path, key)
        if isinstance(value, list):
            counts[path] = counts.get(path, -1) + 1
            return (*path, counts[path])
        if path in counts:
            path = (*path, counts[path])
    return path


def _paths(definitions: Mapping[str, Any]) -> Iterator[KeyPath]:
    """The keys of a statement and of the tables in it, depth first; a stack, since depth is the user's."""
    stack: list[tuple[KeyPath, Mapping[str, Any]]] = [((), definitions)]
    while stack:
        above, table = stack.pop()
        for key, value in table.items():
            yield (*above, key)
            if isinstance(value, dict):
                stack.append(((*above, key), value))
