"""Programs in Python that a text holds, as trees with their places: the whole text, or each fence that is one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from moonpad.explain.commands import Script
from moonpad.explain.python.data import dotted
from moonpad.explain.python.engines import Imports
from moonpad.explain.python.signs import is_python
from moonpad.explain.python.text import parsed

_LANGUAGES: Final = ("", "python", "py", "python3", "ipython", "ipython3")
_FENCES: Final = ("```", "~~~")
_LONGEST: Final = 100_000
_MOST: Final = 40


class Block(NamedTuple):
    """`whole`: the text is this program alone, not a part of a guide."""

    tree: ast.Module
    nodes: Sequence[ast.AST]
    imports: Imports
    before: int
    """Lines of the text in front of it."""
    whole: bool
    values: Mapping[str, ast.expr]
    """What the names stand for that the program sets once."""

    def line(self, node: ast.stmt | ast.expr | ast.keyword) -> int:
        return node.lineno + self.before

    def class_of(self, call: ast.Call) -> tuple[str, str]:
        """The package and the name of what is called, `vllm` and `LLM`."""
        module, name = self.imports.resolved(dotted(call.func))
        return module.partition(".")[0], name


def python_blocks(script: Script) -> Sequence[Block]:
    """Those of a text, each parsed once."""
    script.budget.once("programs in Python", 4 * len(script.lines) + script.steps_to_scan, "its Python")
    blocks = _blocks(script.lines)
    script.budget.once("what its programs say", 2 * sum(len(block.nodes) for block in blocks), "its Python")
    return blocks


@lru_cache(maxsize=2)
def _blocks(lines: tuple[str, ...]) -> tuple[Block, ...]:
    text = "\n".join(lines)
    if len(text) > _LONGEST:
        return ()
    if (tree := _tree(text)) is not None:
        return (_block(tree, 0, whole=True),)
    return tuple(
        _block(tree, first, whole=False)
        for (first, code), _ in zip(_fences(lines), range(_MOST), strict=False)
        if (tree := _tree(code)) is not None
    )


def _tree(code: str) -> ast.Module | None:
    return parsed(code) if is_python(code) else None


def _block(tree: ast.Module, before: int, *, whole: bool) -> Block:
    nodes, imports = tuple(ast.walk(tree)), Imports()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.add(node)
    return Block(tree, nodes, imports, before, whole, _values(nodes))


def _values(nodes: Sequence[ast.AST]) -> Mapping[str, ast.expr]:
    values: dict[str, ast.expr | None] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    values[target.id] = None if target.id in values else node.value
    return {name: value for name, value in values.items() if value is not None}


def _fences(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The number of lines up to the content of each, and that, without the indentation of its first line."""
    begin: int | None = None
    mark = ""
    for number, line in enumerate(lines):
        text = line.strip()
        if begin is None and text.startswith(_FENCES):
            mark, language = text[:3], text.strip("`~ ").partition(" ")[0].lower()
            begin = number + 1 if language in _LANGUAGES else -1
        elif begin is not None and text.startswith(mark):
            if begin >= 0:
                inside = lines[begin:number]
                indent = len(inside[0]) - len(inside[0].lstrip()) if inside else 0
                yield begin, "\n".join(each[min(indent, len(each) - len(each.lstrip())) :] for each in inside)
            begin = None


def calls(block: Block) -> Iterator[ast.Call]:
    yield from (node for node in block.nodes if isinstance(node, ast.Call))


def keywords(call: ast.Call) -> dict[str, ast.keyword]:
    """Arguments by name; what `**` adds is not among them."""
    return {keyword.arg: keyword for keyword in call.keywords if keyword.arg}


def is_open(call: ast.Call) -> bool:
    """Whether `*` or `**` may add arguments."""
    return any(not keyword.arg for keyword in call.keywords) or any(isinstance(each, ast.Starred) for each in call.args)


def value_of(node: ast.expr | None, block: Block) -> ast.expr | None:
    """What a name stands for that the program sets once; anything else is itself."""
    return block.values.get(node.id) if isinstance(node, ast.Name) else node
