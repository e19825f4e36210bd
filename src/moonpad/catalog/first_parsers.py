"""Parsers that came before the releases whose options are recorded: data/first_parsers.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "first_parsers.toml"


class FirstParsers(Struct, frozen=True, kw_only=True):
    program: Text
    option: Text
    first: Mapping[str, str]
    """Parser → the first release that was read and has it."""
    lacks: Mapping[str, str]
    """Parser → the newest release that was read and does not."""
    same_as: Mapping[str, str] = field(default_factory=dict)
    """Parser → an older one that reads the same."""
    beside: str = ""
    """The switch without which releases before `alone_since` read nothing by it."""
    alone_since: str = ""
    provenance: Provenance


@cache
def first_parsers() -> Mapping[tuple[str, str], FirstParsers]:
    """By program and option."""
    tables = (row.build(FirstParsers) for _, row in rows(FILE, "tables"))
    return {(table.program, table.option): table for table in tables}
