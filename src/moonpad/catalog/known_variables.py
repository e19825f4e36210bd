"""Variables of the libraries that engines use, which no engine declares: data/library_variables.toml."""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, rows

FILE: Final = "library_variables.toml"


class Library(Struct, frozen=True, kw_only=True):
    names: tuple[str, ...]
    provenance: Provenance


@cache
def library_variables() -> frozenset[str]:
    """All of them: the lists are not whole, so a name that is not in them may be right."""
    return frozenset(name for _, row in rows(FILE, "libraries") for name in row.build(Library).names)
