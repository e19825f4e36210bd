"""Lines by which engines say that they run slower than they could: data/slow_marks.toml."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows


class SlowMarkRow(Struct, frozen=True, kw_only=True):
    """`pattern` is a regular expression of a line of a log."""

    key: str
    pattern: Text
    message: Text
    remedy: Text
    provenance: Provenance


@cache
def slow_marks() -> tuple[SlowMarkRow, ...]:
    return tuple(row.build(SlowMarkRow, key=key) for key, row in rows("slow_marks.toml", "marks"))
