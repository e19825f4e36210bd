"""Which repositories are built with sources of their submodules: data/submodules.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "submodules.toml"


class WithSubmodules(Struct, frozen=True, kw_only=True):
    """A repository whose plain clone lacks what its build needs."""

    address: Text
    holds: tuple[str, ...]
    where: str = ""
    fetched_by: str = ""
    provenance: Provenance


@cache
def with_submodules() -> Mapping[str, WithSubmodules]:
    """By the ends of their addresses, in small letters."""
    built = [row.build(WithSubmodules) for _, row in rows(FILE, "repositories")]
    return {each.address.casefold(): each for each in built}
