"""Which models answer with their reasoning first, and which parsers take it out: data/reasoning_parsers.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "reasoning_parsers.toml"


class ReasoningFamily(Struct, frozen=True, kw_only=True):
    name: Text
    parsers: tuple[str, ...]
    provenance: Provenance


@cache
def reasoning_families() -> Mapping[str, ReasoningFamily]:
    """By their keys."""
    return {key: row.build(ReasoningFamily) for key, row in rows(FILE, "families")}


def reasoning_family(written: str) -> ReasoningFamily | None:
    """Of a repository, a path or a served name."""
    last = written[-400:].rstrip("/").rpartition("/")[2].rpartition("--")[2]
    plain = last.casefold().replace("_", "-")
    return next((row for row in reasoning_families().values() if re.fullmatch(row.name, plain)), None)
