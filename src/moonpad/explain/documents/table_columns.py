"""Values that a command takes from a table of the same text by the name of a column: `docker run <image> --model
$MODEL` below a table with the columns Image and Model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from moonpad.explain.source_text import IGNORED

if TYPE_CHECKING:
    from moonpad.explain.documents.markdown import Block
    from moonpad.explain.shell.interpreter import ScriptState
    from moonpad.explain.shell.scope import Scope

_TABLE: Final = re.compile(
    r"^[ \t]*\|(?P<head>[^\n]{3,600})\|[ \t]*\n[ \t]*\|[ \t:|-]{3,600}\|[ \t]*\n"
    r"(?P<rows>(?:[ \t]*\|[^\n]{3,2000}\|[ \t]*(?:\n|\Z)){1,60})",
    re.MULTILINE,
)
_PLACE: Final = re.compile(r"<(?P<name>[A-Za-z][A-Za-z0-9 _-]{1,30})>")
_READ: Final = re.compile(r"\$\{?(?P<name>[A-Z][A-Z0-9_]{1,30})(?![\w:+?#%/-])\}?")
_ASSIGNED: Final = re.compile(
    r"(?:^|[;&|(]|\bexport|\blocal|\bread|\bfor)[ \t\0]*([A-Z][A-Z0-9_]{1,30})(?:\+?=|[ ]in\b|$)", re.MULTILINE
)
_VALUE: Final = re.compile(r"(?P<mark>`?)(?P<value>[A-Za-z0-9][\w./:@+-]{0,160})(?P=mark)")
_WORD: Final = re.compile(r"[A-Za-z0-9][\w.-]*")
_SAME: Final = (
    frozenset({"model", "model_id", "model_name", "model_path", "hf_model", "checkpoint", "model_repo", "repository"}),
    frozenset({"image", "docker_image", "container_image", "container", "docker", "image_name", "image_tag"}),
)
"""Names that people have for the same column."""
_OF_SYSTEM: Final = frozenset({"path", "home", "user", "pwd", "shell", "hostname", "uid", "lang", "term"})
"""Variables that each shell has: a column of that name is of something else."""
_MOST_TABLES: Final = 30


class _Cell(Struct, frozen=True):
    value: str
    start: int
    end: int


class _Row(Struct, frozen=True):
    cells: Mapping[str, _Cell]
    """By the name of the column."""
    words: frozenset[str]
    """Of all its cells."""


class _Table(Struct, frozen=True):
    columns: tuple[str, ...]
    rows: tuple[_Row, ...]


def with_columns(text: str, block: Block, state: ScriptState) -> str:
    """The text of a block with `$name` for `<name>`, of the same length, where a table has that column."""
    if "<" not in text:
        return text
    told = _told(text, block, state)
    return _PLACE.sub(
        lambda match: f"${_plain(match['name'])}{IGNORED}" if _plain(match["name"]) in told else match[0], text
    )


def give_columns(scope: Scope, text: str, block: Block, state: ScriptState) -> None:
    """Puts what the columns say into the shell that reads the block, where nothing has set it."""
    own = {*_ASSIGNED.findall(text)}
    for name, cell in _told(text, block, state).items():
        if name not in scope.variables and name not in scope.exports and name not in own:
            scope.set(name, state.text.word(cell.value, cell.start, cell.end))
            scope.given |= {name}


def _told(text: str, block: Block, state: ScriptState) -> Mapping[str, _Cell]:
    if "|" not in state.text.clean or not ("$" in text or "<" in text):
        return {}
    tables = _tables(state.text.clean)
    state.budget.work(20 + len(text) // 100, "its tables")
    names = [_plain(match["name"]) for match in _PLACE.finditer(text)] if tables else []
    names += [match["name"] for match in _READ.finditer(text)] if tables else []
    beside = f"{block.heading or ''} {block.intro or ''}"
    found = {name: [cell for table in tables if (cell := _cell(table, name, beside))] for name in names}
    return {name: cells[0] for name, cells in found.items() if len({cell.value for cell in cells}) == 1}


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")


def _cell(table: _Table, name: str, beside: str) -> _Cell | None:
    """Of the only row, or of the only one that a word of the heading above the command is of."""
    wanted = name.casefold()
    if wanted in _OF_SYSTEM:
        return None
    alike = next((names for names in _SAME if wanted in names), frozenset({wanted}))
    columns = [wanted] if wanted in table.columns else [column for column in table.columns if column in alike]
    if len(columns) != 1:
        return None
    rows = table.rows
    if len(rows) > 1:
        words = {word.casefold() for word in _WORD.findall(beside)}
        common = frozenset.intersection(*(row.words for row in rows))
        rows = tuple(row for row in rows if words & (row.words - common))
    return rows[0].cells.get(columns[0]) if len(rows) == 1 else None


@lru_cache(maxsize=2)  # each block of a text asks
def _tables(text: str) -> tuple[_Table, ...]:
    found = []
    for match in list(_TABLE.finditer(text))[:_MOST_TABLES]:
        columns = tuple(_plain(cell).casefold() for cell in match["head"].split("|"))
        rows, start = [], match.start("rows")
        for line in match["rows"].split("\n"):
            if line.strip():
                rows.append(_row(line, start, columns))
            start += len(line) + 1
        found.append(_Table(columns, tuple(rows)))
    return tuple(found)


def _row(line: str, start: int, columns: tuple[str, ...]) -> _Row:
    cells: dict[str, _Cell] = {}
    at = line.index("|") + 1
    for name, written in zip(columns, line[at:].split("|"), strict=False):
        value = _VALUE.fullmatch(written.strip())
        if value is not None:
            begin = start + at + written.index(value["value"])
            cells.setdefault(name, _Cell(value["value"], begin, begin + len(value["value"])))
        at += len(written) + 1
    return _Row(cells, frozenset(word.casefold() for word in _WORD.findall(line)))
