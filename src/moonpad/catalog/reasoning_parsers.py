"""Which models answer with their reasoning first, and which parsers take it out: data/reasoning_parsers.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "reasoning_parsers.toml"


class SilentFamily(Struct, frozen=True, kw_only=True):
    """Models that never think."""

    name: Text
    provenance: Provenance


class ReasoningFamily(Struct, frozen=True, kw_only=True):
    name: Text
    parsers: tuple[str, ...]
    marked: bool = False
    """Without a parser each answer has the marks of its format, which no chat template takes out."""
    provenance: Provenance


@cache
def reasoning_families() -> Mapping[str, ReasoningFamily]:
    """By their keys."""
    return {key: row.build(ReasoningFamily) for key, row in rows(FILE, "families")}


@cache
def silent_families() -> Mapping[str, SilentFamily]:
    return {key: row.build(SilentFamily) for key, row in rows(FILE, "without_thoughts")}


def reasoning_family(written: str) -> ReasoningFamily | None:
    """Of a repository, a path or a served name."""
    plain = _last(written)
    return next((row for row in reasoning_families().values() if re.fullmatch(row.name, plain)), None)


def without_thoughts(written: str) -> bool:
    """Whether a repository, or the folder that is called after it, is of a model that never thinks."""
    plain = _last(written)
    return any(re.fullmatch(row.name, plain, re.ASCII) for row in silent_families().values())


def _last(written: str) -> str:
    last = written[-400:].rstrip("/").rpartition("/")[2].rpartition("--")[2]
    return last.casefold().replace("_", "-")
