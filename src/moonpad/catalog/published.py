"""What others measured, each row with its source. None of it was run here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from moonpad.catalog.toml_rows import rows
from moonpad.values.plan import Layout
from moonpad.values.plan_answer import Published

FILE: Final = "published.toml"


@cache
def published() -> tuple[Published, ...]:
    """In the order of the file. Reads the data once."""
    return tuple(published_by_id().values())


@cache
def published_by_id() -> Mapping[str, Published]:
    """The same by the ids of the file, `thinking-8xh200-tp8`."""
    return {
        id_: row.build(Published, figures=tuple(row.take("figures").items()), layout=row.part("layout", Layout))
        for id_, row in rows(FILE, "results")
    }
