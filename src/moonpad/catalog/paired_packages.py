"""Packages that put a server of their own into an engine's program: data/paired_packages.toml."""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "paired_packages.toml"


class PairedPackage(Struct, frozen=True, kw_only=True):
    """`package` fits releases of the `engine` with the same minor number alone."""

    engine: Text
    package: Text
    option: Text
    """What calls its server."""
    bare_images: Text
    """Its images, which have no entrypoint: a regular expression of the whole name."""
    program: Text
    """What is written behind such an image."""
    provenance: Provenance


class PackagesTogether(Struct, frozen=True, kw_only=True):
    """Two packages that are compiled against each other, in releases of one minor number."""

    one: Text
    other: Text
    without: Text
    """What comes of two numbers."""
    provenance: Provenance


@cache
def packages_together() -> tuple[PackagesTogether, ...]:
    return tuple(row.build(PackagesTogether) for _, row in rows(FILE, "together"))


@cache
def paired_packages() -> tuple[PairedPackage, ...]:
    """All of them."""
    return tuple(row.build(PairedPackage) for _, row in rows(FILE, "pairs"))
