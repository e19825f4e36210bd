"""A spec with some keys changed: comments, order and everything else stay as the user wrote them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.items import Table


def edited(
    text: str,
    changes: Mapping[str, Mapping[str, Any]],
    *,
    arguments: Sequence[str] | None = None,
    removed: Iterable[tuple[str, str]] = (),
    note: str = "",
) -> str:
    """`changes`: by table, new values by key; a table that is missing is added at the end. `arguments`: a new
    extra_args of [settings]. `removed`: (table, key) that go. `note`: a comment at the head.

    Raises:
        ValueError: the text is not TOML (tomlkit's ParseError is one).
    """
    document = tomlkit.parse(text)
    for table, key in removed:
        holder: Any = document.get(table)
        if holder is not None and key in holder:
            holder.remove(key)
    wanted = {table: dict(values) for table, values in changes.items() if values}
    if arguments is not None:
        wanted.setdefault("settings", {})["extra_args"] = list(arguments)
    for table, values in wanted.items():
        if table not in document:
            document[table] = tomlkit.table()
        for key, value in values.items():
            _set(document[table], key, value)
    written = tomlkit.dumps(document)
    return "".join(f"# {line}\n" for line in note.splitlines()) + written


def _set(table: Any, key: str, value: object) -> None:
    """In a table or in an inline one; the comment behind a value stays."""
    if key in table and isinstance(table, Table):
        item = tomlkit.item(value)
        before: Any = table.value.item(key)  # table[key] is a plain bool where that is one
        item.trivia.comment = before.trivia.comment
        item.trivia.comment_ws = before.trivia.comment_ws
        item.trivia.indent = before.trivia.indent
        table[key] = item
        return
    table[key] = value
