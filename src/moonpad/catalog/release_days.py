"""When the releases of an engine came out: data/release_days.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows
from moonpad.values.versions import order

FILE: Final = "release_days.toml"


class ReleaseDays(Struct, frozen=True):
    """`releases`: the day of each, as `2026-11-02`."""

    releases: Mapping[str, Text]
    provenance: Provenance


@cache
def release_days() -> Mapping[str, ReleaseDays]:
    """By the engine. Reads the data once."""
    return {engine: row.build(ReleaseDays) for engine, row in rows(FILE, "days")}


@cache
def builds_seen() -> Mapping[str, ReleaseDays]:
    """Of engines with more builds than are recorded: some of them, and a day on which each was there already."""
    return {engine: row.build(ReleaseDays) for engine, row in rows(FILE, "seen")}


def released_by(engine: str, day: str) -> str:
    """The newest release that was out on the day; "" where none is recorded, or none was."""
    recorded = release_days().get(engine)
    out = [release for release, published in recorded.releases.items() if published <= day] if recorded else []
    return max(out, key=order, default="")


def seen_around(engine: str, day: str) -> tuple[str, str]:
    """The newest build that was seen by the day, and the first that was seen later; "" for what there is not."""
    seen = builds_seen()[engine].releases if engine in builds_seen() else {}
    by_then = [build for build, there in seen.items() if there <= day]
    later = [build for build, there in seen.items() if there > day]
    return max(by_then, key=order, default=""), min(later, key=order, default="")


def releases_around(engine: str, day: str) -> tuple[str, str] | None:
    """The newest release that was there on the day, and the one behind it, whose changes a build of that day may have.

    None where no day is recorded, where none was out yet, or where none has come out since.
    """
    recorded = release_days().get(engine)
    if recorded is None:
        return None
    out = [release for release, published in recorded.releases.items() if published <= day]
    if not out:
        return None
    before = max(out, key=order)
    later = [release for release in recorded.releases if order(release) > order(before)]
    return (before, min(later, key=order)) if later else None
