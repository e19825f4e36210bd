"""Names that an engine's modules had once: data/moved_imports.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "moved_imports.toml"


class MovedImport(Struct, frozen=True, kw_only=True):
    """`since` is the first release of `engines` that has not `name` in `module`."""

    engines: tuple[str, ...]
    module: Text
    name: Text
    since: Text
    now: Text
    """The line that imports it since then."""
    provenance: Provenance


@cache
def moved_imports() -> Mapping[str, MovedImport]:
    """By their keys."""
    return {key: row.build(MovedImport) for key, row in rows(FILE, "imports")}
