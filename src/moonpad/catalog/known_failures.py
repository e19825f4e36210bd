"""Lines by which engines say why they stopped, with their causes and what helps: data/known_failures.toml."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "known_failures.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFailure:
    """`message` and `remedy` may use the groups of the regular expression `pattern`, in braces."""

    pattern: Text
    message: Text
    remedy: Text
    engines: tuple[str, ...] = ()
    """Those whose logs have the line; none: all."""
    provenance: Provenance


@cache
def known_failures() -> tuple[KnownFailure, ...]:
    return tuple(row.build(KnownFailure) for _, row in rows(FILE, "failures"))
