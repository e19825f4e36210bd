"""What others measured. None of it was run here, and each row says who says so."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from moonpad.catalog.calibrations import layout_of
from moonpad.catalog.rows import Row, rows
from moonpad.values.choice import Published

FILE: Final = "published.toml"


@cache
def published() -> tuple[Published, ...]:
    """In the order of the file. Reads the data once."""
    return tuple(published_by_id().values())


@cache
def published_by_id() -> Mapping[str, Published]:
    """The same by the ids of the file, `thinking-8xh200-tp8`."""
    return {id_: _published(row) for id_, row in rows(FILE, "results")}


def _published(row: Row) -> Published:
    figures = row.table("figures")
    if not figures or not all(isinstance(value, int | float) for value in figures.values()):
        raise ValueError(f"{row.where}: figures is {figures!r}")
    provenance = row.provenance()
    one = Published(
        title=row.text("title"),
        model=row.text("model"),
        cluster=row.text("cluster"),
        engine=row.text("engine"),
        layout=layout_of(row),
        figures=tuple((name, float(value)) for name, value in figures.items()),
        source=provenance.source,
        note=row.text("note", ""),
        engine_version=row.text("engine_version", ""),
        checked=provenance.checked,
        standing=provenance.standing,
    )
    row.done()
    return one
