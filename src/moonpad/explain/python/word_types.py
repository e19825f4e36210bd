"""Numbers among the words of a command that a Python program starts: `subprocess` takes texts and paths alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from moonpad.engines.foreign_names import MENTION
from moonpad.explain.commands import NUMBER_AS_WORD
from moonpad.explain.python.data import Places
from moonpad.explain.shell.interpreter import ScriptState

_STARTS: Final = frozenset({"run", "Popen", "call", "check_call", "check_output"})
_MODULE: Final = "subprocess"
_ADDS: Final = frozenset({"append", "extend", "insert"})


def numbers_among_words(tree: ast.Module, places: Places, state: ScriptState) -> None:
    """A problem for the first number of each list that is handed on as it is."""
    nodes = list(ast.walk(tree))
    state.budget.work(len(nodes) // 2, "its Python")
    imported = {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == _MODULE
        for alias in node.names
        if alias.name in _STARTS
    }
    for call in nodes:
        if not isinstance(call, ast.Call) or not call.args or not _starts(call.func, imported):
            continue
        words = list(_words(call.args[0], nodes))
        if not any(isinstance(value := _value(word, nodes), str) and MENTION.search(value) for word in words):
            continue
        number = next((word for word in words if type(_value(word, nodes)) in (int, float)), None)
        if number is not None:
            begin, end = places.of(number)
            text = places.written(begin, end)
            message = f"{text} is a number, and subprocess takes texts alone: TypeError, and nothing is started"
            right = f'"{text}"' if isinstance(number, ast.Constant) else f"str({text})"
            state.problems.add(NUMBER_AS_WORD, begin, end, message, f"write {right}, and so for the others")
            return


def _value(word: ast.expr, nodes: list[ast.AST]) -> object:
    """Of a constant, and of a name that the program sets once, to a constant."""
    if isinstance(word, ast.Constant):
        return word.value
    if not isinstance(word, ast.Name) or any(isinstance(node, ast.arg) and node.arg == word.id for node in nodes):
        return None
    stored = [node for node in nodes if isinstance(node, ast.Name) and node.id == word.id and _is_stored(node)]
    values = [node.value for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign) and _sets(node, word.id)]
    return values[0].value if len(stored) == len(values) == 1 and isinstance(values[0], ast.Constant) else None


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _starts(function: ast.expr, imported: set[str]) -> bool:
    if isinstance(function, ast.Name):
        return function.id in imported
    return isinstance(function, ast.Attribute) and function.attr in _STARTS and _is(function.value, _MODULE)


def _sets(node: ast.Assign | ast.AnnAssign, name: str) -> bool:
    return any(_is(target, name) for target in (node.targets if isinstance(node, ast.Assign) else [node.target]))


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _words(given: ast.expr, nodes: list[ast.AST]) -> Iterator[ast.expr]:
    """The constants and names of a list, and of one under a name that is set once, with what is added to it."""
    if isinstance(given, ast.List):
        yield from (item for item in given.elts if isinstance(item, ast.Constant | ast.Name))
    if not isinstance(given, ast.Name):
        return
    name = given.id
    values = [node.value for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign) and _sets(node, name)]
    if len(values) != 1 or not isinstance(values[0], ast.List):
        return
    yield from _words(values[0], nodes)
    for node in nodes:
        if isinstance(node, ast.AugAssign) and _is(node.target, name):
            yield from _words(node.value, nodes) if isinstance(node.value, ast.List) else ()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDS:
            added = node.args[-1] if node.args and _is(node.func.value, name) else None
            if isinstance(added, ast.Constant) and node.func.attr != "extend":
                yield added
            elif isinstance(added, ast.List):
                yield from _words(added, nodes)
