"""Names that an engine looks up in a register of its own when it starts: data/registered_names.toml."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from msgspec import Struct, field

from moonpad.catalog.toml_rows import Provenance, Text, read_data, rows
from moonpad.values.versions import order

FILE: Final = "registered_names.toml"


class Register(Struct, frozen=True, kw_only=True):
    """Of `engines`, by the releases that were read. A term is that of a start refusal."""

    engines: tuple[str, ...]
    terms: tuple[str, ...]
    """Where such a name is written."""
    without: tuple[str, ...] = ()
    """Terms with which the register is not asked."""
    lists: tuple[str, ...] = ()
    """The same inside of a list: its path, and behind it the key in each of its tables."""
    what: Text
    closed: bool = False
    """Nothing but the engine adds names."""
    never: bool = False
    """A name of `instead` is wrong whichever release is meant: none had it, and nothing adds it."""
    comes_back: bool = False
    """Plugins add names again that the engine has no more."""
    any_case: bool = False
    by_path: bool = False
    """A name with a dot is one of a class of the user's own."""
    also: tuple[str, ...] = ()
    """What is taken without being a name."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """A name that is none, or no more → the one that is meant."""
    by_plugin: Mapping[str, str] = field(default_factory=dict)
    """A name that was removed → the package that brings it back."""
    remedy: Text
    read: tuple[str, ...]
    """In order."""
    always: tuple[str, ...]
    spans: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The first and the last release that has the name."""
    provenance: Provenance

    def span(self, name: str) -> tuple[str, str] | None:
        """None for a name that no release has."""
        return (self.read[0], self.read[-1]) if name in self.always else self.spans.get(name)

    def names(self, version: str) -> tuple[str, ...]:
        """Those that the release surely has."""
        at = order(version)
        return (
            *self.always,
            *(name for name, (first, last) in self.spans.items() if order(first) <= at <= order(last)),
        )

    def neighbours(self, version: str) -> tuple[str, str] | None:
        """The release itself, or those that were read before and behind it; None outside of them all."""
        at = order(version)
        before = [each for each in self.read if order(each) <= at]
        behind = [each for each in self.read if order(each) >= at]
        return (before[-1], behind[0]) if before and behind else None


@cache
def registers() -> Mapping[str, Register]:
    """By their keys."""
    read: tuple[str, ...] = tuple(read_data(FILE)["read"])
    known = {}
    for key, row in rows(FILE, "registers"):
        first = order(row.take("first"))
        known[key] = row.build(Register, read=tuple(each for each in read if order(each) >= first))
    return known
