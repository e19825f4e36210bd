"""Files of sections that a server's router reads its models from: data/preset_files.toml."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "preset_files.toml"


class PresetFile(Struct, frozen=True, kw_only=True):
    """`[name]` opens the section of a model, and `key = value` is an option, written without its dashes. A value goes
    to the next `;` or `#`, and quotes are part of it. A key without an option of its name ends the start."""

    engines: tuple[str, ...]
    program: Text
    """The router, and the server that it starts for a model."""
    option: Text
    """That names the file."""
    sources: tuple[str, ...]
    """Options one of which says where a section's weights are."""
    beside: tuple[str, ...]
    """Options by which the router knows models of other names."""
    own: tuple[str, ...]
    """Keys that the engine has no option for."""
    provenance: Provenance


@cache
def preset_files() -> Mapping[str, PresetFile]:
    """By their keys."""
    return {key: row.build(PresetFile) for key, row in rows(FILE, "presets")}
