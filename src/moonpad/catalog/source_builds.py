"""Engines that are built from source, as pairs of repositories that belong together."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "source_builds.toml"


class Repository(Struct, frozen=True):
    """`commit` is what the tag's commit begins with."""

    url: Text
    tag: Text
    commit: Text

    @property
    def name(self) -> str:
        return self.url.rstrip("/").rpartition("/")[2].removesuffix(".git")


class SourceBuild(Struct, frozen=True):
    """`base` is the engine without a device's kernels, `plugin` what brings them."""

    engine: Text
    version: Text
    pythons: tuple[tuple[int, int], ...]
    cann: Text
    """The release of CANN that the plugin is built with."""
    base: Repository
    plugin: Repository
    base_env: Mapping[str, str]
    """Set while the base is built."""
    imports: tuple[Text, ...]
    """What must be there in the end."""
    triton: Text
    """Takes the place of the Triton that the base asks for, which does not run on these devices."""
    provenance: Provenance
    torch_index: str = ""
    """Where torch for processors is, on x86-64."""
    triton_index: str = ""


@cache
def source_builds() -> tuple[SourceBuild, ...]:
    """All of them, those of an engine newest first. Reads the data once."""
    return tuple(row.build(SourceBuild) for _, row in rows(FILE, "builds"))


def source_build(engine: str, version: str = "") -> SourceBuild | None:
    """`version` "" is the newest; None where there is none."""
    for build in source_builds():
        if build.engine == engine and version in ("", build.version):
            return build
    return None
