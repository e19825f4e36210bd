"""What a release of an engine asks of a host, and its published weaknesses: host_requirements.toml, advisories.toml."""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows
from moonpad.values.versions import order, since

REQUIREMENTS: Final = "host_requirements.toml"
ADVISORIES: Final = "advisories.toml"


class HostRequirement(Struct, frozen=True, kw_only=True):
    """ "" where nothing is asked. `cuda` is a major version, `rocm`, `cann` and `glibc` the lowest, `python` a PEP 440
    specifier."""

    engine: Text
    platform: Text
    since: Text
    cuda: str = ""
    rocm: str = ""
    cann: str = ""
    glibc: str = ""
    python: str = ""
    provenance: Provenance


class Advisory(Struct, frozen=True, kw_only=True):
    id: str
    engine: Text
    since: Text
    until: Text
    message: Text
    provenance: Provenance


@cache
def host_requirements() -> tuple[HostRequirement, ...]:
    return tuple(row.build(HostRequirement) for _, row in rows(REQUIREMENTS, "requirements"))


@cache
def advisories() -> tuple[Advisory, ...]:
    return tuple(row.build(Advisory, id=key) for key, row in rows(ADVISORIES, "advisories"))


def requirement_of(engine: str, platform: str, version: str) -> HostRequirement | None:
    """Of a release, of the newest where it is "". None: no row is known of it, or of a release before it."""
    of_platform = [row for row in host_requirements() if (row.engine, row.platform) == (engine, platform)]
    reached = [row for row in of_platform if not version or since(version, row.since)]
    return max(reached, key=lambda row: order(row.since), default=None)


def advisories_of(engine: str, version: str) -> tuple[Advisory, ...]:
    """() without a release."""
    return tuple(
        row
        for row in advisories()
        if row.engine == engine and version and since(version, row.since) and order(version) < order(row.until)
    )
