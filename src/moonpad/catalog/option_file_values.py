"""What the keys of an engine's option file take, and what is refused of them together: data/option_file_values.toml,
data/option_file_kinds.toml and data/option_file_refusals.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

from msgspec import Struct, field

from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "option_file_values.toml"
REFUSALS: Final = "option_file_refusals.toml"
KINDS: Final = "option_file_kinds.toml"


class OptionFileValue(Struct, frozen=True, kw_only=True):
    """The words that a key takes in any release that was read. Case counts: another one ends the start."""

    engines: tuple[str, ...]
    key: Text
    takes: tuple[str, ...]
    provenance: Provenance


class OptionFileKind(Struct, frozen=True, kw_only=True):
    """Keys that take one kind of value: a whole number, a number, a switch, a list or a table of keys of their own."""

    engines: tuple[str, ...]
    kind: Literal["whole", "number", "switch", "list", "table"]
    keys: tuple[str, ...]
    provenance: Provenance


class OptionFileRefusal(Struct, frozen=True, kw_only=True):
    """`engines` from release `since` on and before release `until` refuse a file that has all that is `given`."""

    engines: tuple[str, ...]
    since: str = ""
    until: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    """Keys that are there → what their values are, as a regular expression of the whole; "" for any."""
    lacks: tuple[str, ...] = ()
    """Keys that are not there."""
    message: Text
    remedy: Text
    provenance: Provenance


@cache
def option_file_values() -> Mapping[str, OptionFileValue]:
    """By their keys."""
    return {key: row.build(OptionFileValue) for key, row in rows(FILE, "values")}


@cache
def option_file_refusals() -> Mapping[str, OptionFileRefusal]:
    """By their keys."""
    return {key: row.build(OptionFileRefusal) for key, row in rows(REFUSALS, "refusals")}


@cache
def option_file_kinds() -> Mapping[str, OptionFileKind]:
    """By their keys."""
    return {key: row.build(OptionFileKind) for key, row in rows(KINDS, "kinds")}
