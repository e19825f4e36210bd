"""Devices of makers for which nothing is planned, and how much memory each has: data/other_makers.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, rows

FILE: Final = "other_makers.toml"


class MakersDevice(Struct, frozen=True, kw_only=True):
    """`label` with its article; `pattern` is what a text calls it; `part` counts as a device where a text speaks of it,
    "" where there is none."""

    label: str
    pattern: str
    memory_bytes: int
    part: str = ""
    part_bytes: int = 0
    provenance: Provenance


@cache
def devices_of_makers() -> Mapping[str, MakersDevice]:
    return {key: row.build(MakersDevice) for key, row in rows(FILE, "devices")}
