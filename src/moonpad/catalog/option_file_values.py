"""Values that the keys of an engine's option file take: data/option_file_values.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "option_file_values.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionFileValue:
    """The words that a key takes in any release that was read. Case counts: another one ends the start."""

    engines: tuple[str, ...]
    key: Text
    takes: tuple[str, ...]
    provenance: Provenance


@cache
def option_file_values() -> Mapping[str, OptionFileValue]:
    """By their keys."""
    return {key: row.build(OptionFileValue) for key, row in rows(FILE, "values")}
