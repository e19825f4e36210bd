"""pydantic's errors in our words: what was written, what is expected, and the nearest right key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import ErrorDetails

from moonpad.spec.near_match import nearest_key
from moonpad.spec.safe_text import SHOWN_CHARS, shorten
from moonpad.spec.schema import TABLES, fields_of


def problem(error: ErrorDetails) -> str:
    """One sentence on one error of validation."""
    match error["loc"]:
        case (str() as table, int() as index, *rest) if table in TABLES:  # one of [[hosts]]
            return f"number {index + 1} of [[{table}]]: {_problem((table, *rest), error)}"
        case (str() as table, str() as inner, *rest) if rest and f"{table}.{inner}" in TABLES:
            return _problem((f"{table}.{inner}", *rest), error)
    return _problem(error["loc"], error)


def _problem(path: tuple[int | str, ...], error: ErrorDetails) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return _unknown(path, error["input"])
    if kind == "missing":
        return f"{_key(path)} is missing"
    if kind == "value_error":
        return f"{_key(path)} {error['ctx']['error']}"
    return f"{_key(path)} must be {_wanted(path)}, found {_described(error['input'])}"


def _described(value: object) -> str:
    """The value as a person would name it: `the text "8000"`, `a table`. Never repeats a long or a deep one."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f'the text "{shorten(value)}"'
        case int():
            return str(value) if abs(value) < 10**SHOWN_CHARS else "a huge number"
        case float():
            return f"the number {value}"
        case dict():
            return "a table"
        case list():
            return "a list"
    return f"the {type(value).__name__} {value}"


def _key(path: tuple[int | str, ...]) -> str:
    """`port in [endpoint]`, `[endpoint]`, `model`, `item 2 of extra_args in [settings]`."""
    match path:
        case ():
            return "the file"
        case ("engine",):
            return "engine"
        case ("engine", "name"):
            return "the engine's name"
        case (str() as name,):
            return f"[{name}]" if name in TABLES else name
        case (str() as table, str() as name):
            return f"{name} in [{table}]"
        case (str() as table, str() as name, int() as index, *_):
            return f"item {index + 1} of {name} in [{table}]"
    return ".".join(str(part) for part in path)


def _wanted(path: tuple[int | str, ...]) -> str:
    table, name = ("", path[0]) if len(path) == 1 else (path[0], path[1])
    if len(path) > 2:
        return "a text"
    if name in TABLES and name != "engine":
        return fields_of(TABLES[""])[str(name)].description or "a table"
    model = TABLES.get(str(table))
    field = fields_of(model).get(str(name)) if model else None
    return (field.description if field else None) or "another kind of value"


def _unknown(path: tuple[int | str, ...], value: object) -> str:
    table, key = ".".join(str(part) for part in path[:-1]), str(path[-1])
    where = f" in [{table}]" if table else ""
    keys: Mapping[str, Any] = {name: fields_of(model) for name, model in TABLES.items()}
    what = f"table [{shorten(key)}]" if isinstance(value, dict) and not table else f'key "{shorten(key)}"{where}'
    if (nearest := nearest_key(key, table, keys)) is None:
        return f"unknown {what}"
    near_table, near = nearest
    place = f" in [{near_table}]" if near_table else ", above the first [table]"
    is_table = not near_table and near in TABLES and near != "engine"
    meant = f"[{near}]" if is_table else f'"{near}"{"" if near_table == table else place}'
    return f"unknown {what}; did you mean {meant}?"
