"""The reference of `moonpad.toml`, made from the schema that reads it."""

from __future__ import annotations

import ast
import inspect
import json
from itertools import pairwise
from typing import Any, get_args

from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo

from moonpad.engines import ENGINES
from moonpad.spec.fields import _seconds as duration
from moonpad.spec.schema import TABLES, fields_of

HEAD = """\
# moonpad.toml

Made from the schema at each build. A key that is not here is refused with the nearest one that is, a value of another
type too, and each message names the line. The smallest useful spec has two lines:

```toml
model = "kimi-k2-tiny"
engine = "vllm-cpu"
```

A path is relative to the file. `moonpad init` writes a spec of the best plan, and `examples/` has some for real
machines.
"""
DEFAULTS = {
    "name": "By default that of the file, without its ending",
    "served_name": "By default the last part of the model's name",
}
"""Of the keys at the top that are filled in before the schema sees them."""


def spec_page() -> str:
    """Each table with its keys; tables of one kind, like those of the two pools, once."""
    names: dict[type[BaseModel], list[str]] = {}
    for name, table in TABLES.items():
        names.setdefault(table, []).append(name)
    tables = set(TABLES)
    return HEAD + "".join(f"\n{_section(table, of, tables)}" for table, of in names.items())


def _section(table: type[BaseModel], names: list[str], tables: set[str]) -> str:
    if names == [""]:
        title = "At the top"
    else:
        title = ", ".join(f"[[{name}]]" if name == "hosts" else f"[{name}]" for name in names)
    # A key that is a table has a section of its own.
    inner = {key for key in fields_of(table) for name in names if f"{name}.{key}".lstrip(".") in tables}
    keys = {key: field for key, field in fields_of(table).items() if key == "engine" or key not in inner}
    told = _told(table)
    by_field = {(field.alias or name): told.get(name, "") for name, field in table.model_fields.items()}
    lines = [f"## {title}", "", inspect.cleandoc(table.__doc__ or ""), ""]
    for key, field in keys.items():
        lines += [
            f"`{key}`",
            f":   {_meaning(field, by_field[key], DEFAULTS.get(key, '') if names == [''] else '')}",
            "",
        ]
    return "\n".join(lines)


def _meaning(field: FieldInfo, told: str, filled_in: str) -> str:
    parts = [told] if told else []
    kind = field.description or _wording(field.annotation, field.metadata)
    if kind:
        parts.append(f"{kind[0].upper()}{kind[1:]}")
    if kind == "the name of an engine":
        parts.append(f"One of {', '.join(f'`{name}`' for name in ENGINES)}")
    if filled_in:
        parts.append(filled_in)
    elif field.is_required():
        parts.append("**Required**")
    elif field.default not in (None, (), "") and not field.default_factory:
        parts.append(f"By default `{_toml(field.default, seconds=field.alias is not None)}`")
    return " ".join(part if part.endswith((".", "**")) else f"{part}." for part in parts)


def _wording(annotation: Any, metadata: Any = ()) -> str:
    """What a value must be, of a type that is shared by several keys."""
    for piece in (*metadata, *get_args(annotation)):
        if isinstance(piece, FieldInfo) and piece.description:
            return piece.description
        if isinstance(piece, BeforeValidator) and piece.func is duration:
            return "a duration, like `10s`, `500ms` or `2m`"
        if found := _wording(piece):
            return found
    return ""


def _toml(value: Any, *, seconds: bool) -> str:
    return f'"{value:g}s"' if seconds else json.dumps(value)


def _told(table: type[BaseModel]) -> dict[str, str]:
    """The text below each field of the class, as its source has it."""
    tree = next(node for node in ast.walk(ast.parse(inspect.getsource(table))) if isinstance(node, ast.ClassDef))
    told: dict[str, str] = {}
    for field, after in pairwise(tree.body):
        is_field = isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if is_field and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            told[field.target.id] = " ".join(str(after.value.value).split())
    return told
