"""What a Python program in a heredoc prints, where that is one object of JSON: `$(python3 - <<'PY' … PY)`."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Final

from moonpad.explain.commands import Word
from moonpad.values.records import replace

PYTHONS: Final = frozenset({"python", "python3"})
_DUMPS: Final = "json.dumps"
_OF_ENVIRONMENT: Final = frozenset({"os.environ.get", "os.getenv"})
_DEEPEST: Final = 16


class _Unknown(Exception):
    pass


def printed_json(program: Word, variables: Mapping[str, object]) -> Word | None:
    """None where it does anything else than to print one object. `variables`: those of the shell; one that is not
    known stands in the object by its name."""
    try:
        body = ast.parse(program.text).body
    except (SyntaxError, ValueError, RecursionError):
        return None
    statements = [each for each in body if not isinstance(each, ast.Import | ast.ImportFrom)]
    match statements:
        case [ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[ast.Call() as call], keywords=[]))]:
            pass
        case _:
            return None
    if ast.unparse(call.func) != _DUMPS or len(call.args) != 1:
        return None
    unknown: list[str] = []
    try:
        text = json.dumps(_value(call.args[0], variables, unknown))
    except (_Unknown, TypeError, ValueError):
        return None
    return replace(program, text=text, pieces=(), unresolved=tuple(dict.fromkeys(unknown)))


def _value(node: ast.expr, variables: Mapping[str, object], unknown: list[str], depth: int = 0) -> object:
    if depth > _DEEPEST:
        raise _Unknown
    match node:
        case ast.Constant(value=str() | int() | float() | None):
            return node.value
        case ast.Dict(keys=keys, values=values):
            names = [key.value if isinstance(key, ast.Constant) else None for key in keys]
            if not all(isinstance(name, str) for name in names):
                raise _Unknown
            parts = (_value(each, variables, unknown, depth + 1) for each in values)
            return dict(zip(map(str, names), parts, strict=True))
        case ast.List(elts=elements):
            return [_value(each, variables, unknown, depth + 1) for each in elements]
        case ast.Call(func=ast.Name(id="int" | "float" as kind), args=[argument], keywords=[]):
            inner = _value(argument, variables, unknown, depth + 1)
            return inner if str(inner).startswith("${") else (int if kind == "int" else float)(str(inner))
        case ast.Subscript(value=ast.Attribute(), slice=ast.Constant(value=str(name))):
            if ast.unparse(node.value) == "os.environ":
                return _variable(name, None, variables, unknown)
        case ast.Call(func=ast.Attribute(), args=[ast.Constant(value=str(name)), *rest]):
            if ast.unparse(node.func) in _OF_ENVIRONMENT:
                default = _value(rest[0], variables, unknown, depth + 1) if rest else None
                return _variable(name, default, variables, unknown)
    raise _Unknown


def _variable(name: str, default: object, variables: Mapping[str, object], unknown: list[str]) -> object:
    value = variables.get(name)
    if isinstance(value, Word) and not value.unresolved:
        return value.text
    if value is None and default is not None:
        return default
    unknown.append(name)
    return f"${{{name}}}"
