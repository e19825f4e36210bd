"""What says today what an option of former releases said: data/former_options.toml."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from msgspec import Struct

from moonpad.catalog.options.tables import programs
from moonpad.catalog.toml_rows import Provenance, Text, rows

FILE: Final = "former_options.toml"
_LONGEST: Final = 200
_MOST_WORDS: Final = 200


class FormerOption(Struct, frozen=True, kw_only=True):
    """`program` had the `option`, and has it no more."""

    program: Text
    option: Text
    value: str = ""
    """Of these values alone, as a regular expression of the whole."""
    beside: str = ""
    """Where a word of the command has this in it alone, as a regular expression in any case: the name of a model."""
    write: tuple[str, ...] = ()
    """The words in its place, `{value}` in them what stood behind it."""
    asks: bool = False
    """A person has to choose: nothing is written in its place."""
    remedy: Text
    provenance: Provenance

    def words(self, values: Sequence[str]) -> tuple[str, ...] | None:
        """What mends it; None where a person has to choose, or the value that it needs is not one word."""
        needs = any("{value}" in word for word in self.write)
        if self.asks or (needs and len(values) != 1):
            return None
        return tuple(word.replace("{value}", values[0]) if needs else word for word in self.write)


@cache
def former_options() -> tuple[FormerOption, ...]:
    """All of them, in the order of the file."""
    return tuple(row.build(FormerOption) for _, row in rows(FILE, "former"))


@cache
def same_options(program: str) -> Mapping[str, tuple[str, ...]]:
    """Of each option that was renamed, or that another one was renamed to, its other names: releases between take both,
    with the same values."""
    pairs: dict[str, set[str]] = {}
    for row in former_options():
        renamed = len(row.write) == 1 or row.write[1:] == ("{value}",)
        if row.program == program and renamed and not row.value and not row.asks and row.write[0].startswith("--"):
            pairs.setdefault(row.write[0], set()).add(row.option)
            pairs.setdefault(row.option, set()).add(row.write[0])
    return {name: tuple(sorted(others)) for name, others in pairs.items()}


def former_option(program: str, option: str, values: Sequence[str], words: Sequence[str] = ()) -> FormerOption | None:
    """The first row of the program, or of the one that it is built on, that is about the option with these values.
    `words` are those of the command."""
    files = programs().get(program)
    names, value = (program, files.built_on if files else ""), " ".join(values)[:_LONGEST]
    for row in former_options():
        of_value = not row.value or re.fullmatch(row.value, value, re.IGNORECASE)
        if row.program in names and row.option == option and of_value and _stands_beside(row, words):
            return row
    return None


def _stands_beside(row: FormerOption, words: Sequence[str]) -> bool:
    return not row.beside or any(re.search(row.beside, word[:_LONGEST], re.IGNORECASE) for word in words[:_MOST_WORDS])
