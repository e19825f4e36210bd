"""Whether a condition in a Python program holds, as far as its text tells, and whether much depends on it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from moonpad.catalog.options import option_set
from moonpad.explain.flag_lists import LAYOUT, serving_programs
from moonpad.explain.python.data import DEEPEST, Names, Text, Value
from moonpad.explain.python.strings import kind_is

if TYPE_CHECKING:
    from moonpad.explain.python.values import Evaluator

_HARMLESS: Final = (
    *("--api-key", "--admin-api-key", "--api-key-file", "--host", "--port", "--root-path", "--served-model-name"),
    *("--alias", "--tool-call-parser", "--tool-parser", "--reasoning-parser", "--chat-template", "--response-role"),
    *("--uvicorn-log-level", "--log-level", "--log-level-http", "--log-file", "--ssl-keyfile", "--ssl-certfile"),
    *("--ssl-key-file", "--ssl-cert-file", "--ssl-ca-certs", "--download-dir", "--seed", "--random-seed"),
    *("--max-log-len", "--file-storage-path", "--otlp-traces-endpoint"),
)


def truth(reader: Evaluator, node: ast.expr, names: Names) -> bool | None:
    """Whether a condition holds; None where that is not known."""
    match node:
        case ast.UnaryOp(op=ast.Not()):
            inner = truth(reader, node.operand, names)
            return None if inner is None else not inner
        case ast.BoolOp():
            parts = [truth(reader, part, names) for part in node.values[:DEEPEST]]
            stops = isinstance(node.op, ast.Or)
            if stops in parts:
                return stops
            return None if None in parts else not stops
        case ast.Call(func=ast.Name(id="isinstance"), args=[value_of, classes]):
            value = reader.value(value_of, names)
            kinds = [part.id for part in ast.walk(classes) if isinstance(part, ast.Name)]
            return kind_is(value.value, kinds) if isinstance(value, Text) and value.known else None
        case ast.Compare(ops=[op]):
            return _compared(op, reader.value(node.left, names), reader.value(node.comparators[0], names))
    value = reader.value(node, names)
    return bool(value.value) if isinstance(value, Text) and value.known else None


def _compared(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    if not (isinstance(left, Text) and isinstance(right, Text) and left.known and right.known):
        return None
    first, second = left.value, right.value
    match op:
        case ast.Is() | ast.IsNot():
            return (type(first) is type(second) and first == second) is isinstance(op, ast.Is)
        case ast.Eq():
            return first == second
        case ast.NotEq():
            return first != second
    if not (isinstance(first, int | float) and isinstance(second, int | float)):
        return None
    match op:
        case ast.Gt():
            return first > second
        case ast.GtE():
            return first >= second
        case ast.Lt():
            return first < second
        case ast.LtE():
            return first <= second
    return None


def computed(op: ast.operator, first: int, second: int) -> int | None:
    """What two whole numbers come to; None for other operators."""
    match op:
        case ast.Add():
            return first + second
        case ast.Sub():
            return first - second
        case ast.Mult():
            return first * second
        case ast.FloorDiv() if second:
            return first // second
    return None


def any_decisive(items: Sequence[Value], behind: Value | None = None) -> bool:
    """Of words that are added behind another one."""
    return any(decisive(item, before) for before, item in zip((behind, *items), items, strict=False))


def decisive(value: Value, before: Value | None = None) -> bool:
    """Whether it is an option of the layout or of the context, or may be any. `before` is the word before it."""
    if not isinstance(value, Text):
        return True
    if value.word.text.startswith("${"):
        return not isinstance(before, Text) or before.word.text not in _harmless_flags()
    return value.word.text.partition("=")[0] in _decisive_flags()


@cache
def _harmless_flags() -> frozenset[str]:
    """All names of options with one value that says nothing of layout, context or memory, whatever it is: as the value
    of `--api-key`, what is not known is no option."""
    flags: set[str] = set()
    for program in serving_programs():
        known = option_set(program)
        named = map(known.named, _HARMLESS) if known else ()
        flags |= {name for option in named if option and option.kind not in ("flag", "json") for name in option.names}
    return frozenset(flags)


@cache
def _decisive_flags() -> frozenset[str]:
    """All names of those options, of all engines."""
    flags: set[str] = set()
    for program, line in serving_programs().items():
        options = option_set(program)
        for name in (*LAYOUT, "max_model_len"):
            option = options.named(line.options[name]) if options and name in line.options else None
            flags |= {*(option.names if option else ())}
    return frozenset(flags)
