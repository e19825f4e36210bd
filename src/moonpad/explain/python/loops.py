"""What loops and comprehensions of a Python program go through, where all of it is known."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from moonpad.explain.python.data import Listing, Names, Table, Text, Value, dotted
from moonpad.values.records import replace

if TYPE_CHECKING:
    from moonpad.explain.python.values import Evaluator

_ADDING: Final = (ast.For, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.If, ast.Continue, ast.Pass)
_ROUNDS: Final = 400
"""Of all loops together, that are read one by one."""


def comprehension(reader: Evaluator, node: ast.ListComp | ast.GeneratorExp, names: Names) -> Value:
    """Of what is known; a list that is only written in another way stands for the one before."""
    items: list[Value] = []
    if not _gather(reader, node, 0, names.new_child(), items):
        for child in ast.walk(node):
            if isinstance(child, ast.Constant | ast.JoinedStr):
                reader.value(child, names)
        return reader.unknown(node)
    listing = Listing(items, tuple(reader.state.arms))
    reader.made.append(listing)
    first = names.get(node.generators[0].iter.id) if isinstance(node.generators[0].iter, ast.Name) else None
    if isinstance(first, Listing) and len(first.items) == len(items):
        first.used = True
    return listing


def _gather(
    reader: Evaluator, node: ast.ListComp | ast.GeneratorExp, level: int, names: Names, items: list[Value]
) -> bool:
    generator = node.generators[level]
    rounds = rounds_of(reader, generator.iter, names)
    if rounds is None or generator.ifs:
        return False
    for value in rounds:
        bind(reader, generator.target, value, names)
        if level + 1 < len(node.generators):
            if not _gather(reader, node, level + 1, names, items):
                return False
        elif isinstance(node.elt, ast.Starred):
            return False
        else:
            items.append(reader.value(node.elt, names))
    return True


def rounds_of(reader: Evaluator, node: ast.expr, names: Names) -> list[Value] | None:
    """What a loop goes through, where all of it is known."""
    kind, inner = "", node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        kind, inner = node.func.attr, node.func.value
    value = reader.value(inner, names)
    result: list[Value] | None = None
    if kind not in ("", "items", "keys", "values"):
        return None
    if isinstance(value, Listing) and not kind:
        result = list(value.items)
    elif isinstance(value, Table) and not value.rest and not any(name.startswith("#") for name in value.fields):
        at = replace(value.at, pieces=())
        keys = [Text(replace(at, text=name), name) for name in value.fields]
        if kind == "values":
            result = list(value.fields.values())
        elif kind == "items":
            result = [Listing([key, item]) for key, item in zip(keys, value.fields.values(), strict=True)]
        else:
            result = list(keys)
    if result is None or reader.rounds + len(result) > _ROUNDS:
        return None
    reader.rounds += len(result)
    value.used = True if isinstance(value, Table) else value.used
    return result


def has_one_round(node: ast.expr, names: Names) -> bool:
    """Whether it goes through a table or a list under a name that has one item."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        node = node.func.value
    value = names.get(node.id) if isinstance(node, ast.Name) else None
    return len(value.fields if isinstance(value, Table) else value.items if isinstance(value, Listing) else ()) == 1


def bind(reader: Evaluator, target: ast.expr, value: Value, names: Names) -> None:
    """The names of a loop in one of its rounds."""
    if isinstance(target, ast.Name):
        names[target.id] = value
    elif isinstance(target, ast.Tuple | ast.List):
        values = value.items if isinstance(value, Listing) else []
        for number, part in enumerate(target.elts):
            bind(reader, part, values[number] if len(values) == len(target.elts) else reader.unknown(part), names)


def only_adds(node: ast.For) -> bool:
    """Whether a loop only makes words, and starts nothing."""
    if node.orelse:
        return False
    for part in ast.walk(node):
        if isinstance(part, ast.stmt) and not isinstance(part, _ADDING):
            return False
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            method = dotted(part.value.func).rpartition(".")[2]
            if method not in ("append", "extend", "insert", "update"):
                return False
    return True
