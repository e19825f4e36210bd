"""What values of a Python program are, as far as its text tells them, and where they stand in it."""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from moonpad.explain.commands import Word

DEEPEST: Final = 40
"""Of expressions in expressions; what is deeper is unknown."""
OF_ENVIRONMENT: Final = ("os.environ.get", "os.getenv")
_PARTS: Final = 8
"""Names in a dotted one."""


class Unknown:
    """The value of what only running the program would tell."""


UNKNOWN: Final = Unknown()


@dataclass(eq=False, slots=True)
class Text:
    """A scalar: `word` is how it is spelled in a command, with its place."""

    word: Word
    value: object
    used: bool = False
    """It went into another one."""
    environment: dict[str, Word] = field(default_factory=dict)
    """Variables that what starts it sets for it."""
    sources: tuple[Listing | Text, ...] = ()
    """What it is made of, where that may be a command of its own."""
    in_shell: bool = False
    """A shell reads it."""

    @property
    def known(self) -> bool:
        return not isinstance(self.value, Unknown)


@dataclass(eq=False, slots=True)
class Listing:
    """A list or a tuple. `arms` are the branches in which it was made."""

    items: list[Value]
    arms: tuple[tuple[int, int], ...] = ()
    used: bool = False
    """It went into another one, or is what a function gave back."""
    environment: dict[str, Word] = field(default_factory=dict)
    in_shell: bool = False
    """A shell reads a text that is made of its words."""


@dataclass(eq=False, slots=True)
class Table:
    """A dictionary, or the named arguments of a call: `call` is its name."""

    fields: dict[str, Value]
    at: Word
    call: str = ""
    rest: list[Word] = field(default_factory=list)
    """`**kwargs` that are not known."""
    used: bool = False
    of_class: str = ""
    """An object of that class of the program, whose attributes the fields are; or the class itself."""
    branches: int = 0
    """In how many branches it was made."""


@dataclass(eq=False, slots=True)
class Either:
    """Lists of several branches under one name."""

    values: list[Listing]
    used: bool = False


Value = Text | Listing | Table | Either
Names = ChainMap[str, Value]


class Places:
    """Offsets of nodes, whose columns count bytes."""

    def __init__(self, text: str, start: int) -> None:
        self.text, self.start = text, start
        self.lines = text.split("\n")
        self.starts = [start, *accumulate((len(line) + 1 for line in self.lines), initial=start)][1:]

    def of(self, node: ast.expr | ast.keyword | ast.stmt) -> tuple[int, int]:
        end = self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self._offset(node.lineno, node.col_offset), end

    def written(self, begin: int, end: int) -> str:
        return self.text[begin - self.start : end - self.start]

    def _offset(self, line: int, column: int) -> int:
        text = self.lines[line - 1]
        return self.starts[line - 1] + (
            column if text.isascii() else len(text.encode()[:column].decode("utf-8", "ignore"))
        )


def dotted(node: ast.expr) -> str:
    """`sys.executable`; "" for what is no name of a few parts."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _PARTS:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def spread(value: Value) -> list[Value]:
    """The items of a list that goes into another one."""
    if isinstance(value, Listing):
        value.used = True
        return list(value.items)
    if isinstance(value, Either):
        for listing in value.values:
            listing.used = True
        return list(value.values[0].items) if value.values else []
    return [value]


def merge(table: Table, value: Value) -> None:
    """`**value` in a dictionary or a call."""
    if isinstance(value, Table):
        value.used = True
        table.fields |= value.fields
        table.rest += value.rest
    elif isinstance(value, Text):
        table.rest.append(value.word)


def words_in(value: Value, depth: int = 0) -> Iterator[Word]:
    """The words of all scalars in it, which may hold itself."""
    if depth > DEEPEST // 2:
        return
    match value:
        case Text():
            yield value.word
        case Listing():
            for item in value.items:
                yield from words_in(item, depth + 1)
        case Table():
            for inner in value.fields.values():
                yield from words_in(inner, depth + 1)


def plain(value: Value, depth: int = 0) -> object:
    """As JSON can hold it; what is unknown as its name."""
    if depth > DEEPEST // 2:
        return None
    match value:
        case Text():
            return value.value if isinstance(value.value, str | int | float | bool | None) else value.word.text
        case Listing():
            return [plain(item, depth + 1) for item in value.items]
        case Table():
            return {name: plain(inner, depth + 1) for name, inner in value.fields.items()}
    return None


def is_default(node: ast.Call, owner: Value | None, arguments: Sequence[Value]) -> bool:
    """Whether a call gives back its second argument for all that the text tells: `os.getenv("TP", "8")`, and
    `given.get("tensor_parallel_size", 8)` of a table that only running the program would tell; but 1 is what programs
    write where nothing is chosen."""
    match arguments:
        case [Text(), _] if dotted(node.func) in OF_ENVIRONMENT:
            return True
        case [Text(), Text(value=bool() | str() | int() as value)] if isinstance(owner, Text) and not owner.known:
            is_get = isinstance(node.func, ast.Attribute) and node.func.attr == "get"
            return is_get and value != "" and (value is True or value is False or value != 1)
    return False


def given_to_shell(value: Value) -> None:
    if isinstance(value, Text):
        value.in_shell = True
        for source in value.sources:
            if isinstance(source, Listing):
                source.in_shell = True


def environment_in(variables: Table) -> dict[str, Word]:
    return {
        name: part.word for name, part in variables.fields.items() if name.isidentifier() and isinstance(part, Text)
    }
