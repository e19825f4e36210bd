"""The indexes of packages that engines publish beside PyPI, by platform, channel and version of CUDA."""

from __future__ import annotations

from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows
from moonpad.values.platform import Platform

FILE: Final = "package_indexes.toml"


class IndexPlace(Struct, frozen=True):
    """`packages` come from the index `url` and from nowhere else."""

    url: Text
    packages: tuple[Text, ...]


class IndexedBuild(Struct, frozen=True):
    """A build that is resolved when it is asked for, since its index changes or was never in reach of a lock."""

    engine: Text
    platform: Platform
    requirement: Text
    """What is asked of the first place: `vllm==0.18.0+rocm700`, or a name alone for the newest."""
    pythons: tuple[tuple[int, int], ...]
    """The minor versions of Python that it has wheels for; the last is resolved for where ours is not among them."""
    glibc: tuple[int, int]
    places: tuple[IndexPlace, ...]
    by_uv: Text
    """The same without moonpad."""
    provenance: Provenance
    nightly: bool = False
    cuda: str = ""
    """`13.0`; "" without CUDA."""
    note: str = ""


@cache
def indexed_builds() -> tuple[IndexedBuild, ...]:
    """All of them. Reads the data once."""
    return tuple(row.build(IndexedBuild) for _, row in rows(FILE, "indexes"))


def indexed_build(engine: str, platform: Platform, *, nightly: bool, cuda: str = "") -> IndexedBuild | None:
    """None where its makers publish no such build. `cuda` "" is the first of the list."""
    for build in indexed_builds():
        if (build.engine, build.platform, build.nightly) == (engine, platform, nightly) and cuda in ("", build.cuda):
            return build
    return None
