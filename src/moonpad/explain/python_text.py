"""Commands in a Python program: lists of words for subprocess, and strings that a shell would read. Nothing is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from typing import Final

from moonpad.engines.foreign_names import MENTION
from moonpad.explain.commands import Command, Piece, Word
from moonpad.explain.interpreter import ScriptState, Shell
from moonpad.explain.programs import program_named
from moonpad.explain.source_text import Source

_PYTHON: Final = re.compile(
    r"^(?:import \w|from [\w.]+ import |def \w+\(|class \w+|if __name__ ==|subprocess\.)", re.MULTILINE
)
_LONGEST: Final = 200_000
"""Characters: of more, the tree takes too much memory."""


def is_python(text: str) -> bool:
    first = text.lstrip("\0\n\t ").partition("\n")[0]
    shell = first.startswith("#!") and "python" not in first
    return not shell and bool(_PYTHON.search(text)) and "<<" not in text


def read_python(text: str, start: int, state: ScriptState) -> bool:
    """Adds the servers that the program starts. False where it is no Python."""
    if len(text) > _LONGEST:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    places = _Places(text, start)
    state.budget.work(len(text) // 4, "its Python")
    for node in _outermost(tree):
        begin, end = places.of(node)
        before, problems_before = len(state.commands), len(state.problems.items)
        if isinstance(node, ast.List | ast.Tuple):
            words = [_word(element, places, state) for element in node.elts]
            if words:
                Shell(state, Source.block(state.text, start, text)).command(words)
        elif isinstance(value := getattr(node, "value", None), str):
            word = state.text.word(value, begin, end, (Piece(0, len(value), begin, end),))
            Shell(state, Source.inside(word, state.text)).read()
        state.commands[before:] = [command for command in state.commands[before:] if _serves(command)]
        if len(state.commands) == before:
            del state.problems.items[problems_before:]
    return True


def _outermost(tree: ast.AST) -> Iterator[ast.expr]:
    """Lists of words and strings in which an engine is mentioned."""
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.List | ast.Tuple):
            texts = [element.value for element in node.elts if isinstance(element, ast.Constant)]
            if any(isinstance(text, str) and MENTION.search(text) and " " not in text.strip() for text in texts):
                yield node
                continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and MENTION.search(node.value):
            yield node
        nodes += reversed(list(ast.iter_child_nodes(node)))


class _Places:
    """Offsets of nodes, whose columns count bytes."""

    def __init__(self, text: str, start: int) -> None:
        self.lines = text.split("\n")
        self.starts = [start, *accumulate((len(line) + 1 for line in self.lines), initial=start)][1:]

    def of(self, node: ast.expr) -> tuple[int, int]:
        end = self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self._offset(node.lineno, node.col_offset), end

    def _offset(self, line: int, column: int) -> int:
        text = self.lines[line - 1]
        return self.starts[line - 1] + (
            column if text.isascii() else len(text.encode()[:column].decode("utf-8", "ignore"))
        )


def _word(node: ast.expr, places: _Places, state: ScriptState) -> Word:
    """A literal, or what only running the program would tell, by its name."""
    begin, end = places.of(node)
    if isinstance(node, ast.Constant):
        text = str(node.value)
        return state.text.word(text, begin, end, (Piece(0, len(text), begin, end),))
    name = ast.unparse(node)[:60]
    if name == "sys.executable":
        return state.text.word("python", begin, end)
    return replace(state.text.word(f"${{{name}}}", begin, end), unresolved=(name,))


def _serves(command: Command) -> bool:
    program = program_named(command.program)
    return program is not None and program.kind == "server" and len(command.argv) > 1
