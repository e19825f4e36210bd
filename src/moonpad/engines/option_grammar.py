"""The options of one program in one version, ready to recognise a word of a command line."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Final, Literal

from msgspec import Struct

from moonpad.catalog.options import Option, OptionSet

_NEGATIVE_NUMBER = re.compile(r"-\d+$|-\d*\.\d+$")
SHORT_SIZES: Final = frozenset({"--tp", "--dp", "--pp"})
"""Beginnings of options that most guides write, and that each release takes."""


class Match(Struct, frozen=True):
    """A word that is an option. `attached`: the value behind `=` or glued to a short name. `path`: dotted keys.

    `flag` is None where this version has no such option, although `option` may be one of another version.
    """

    written: str
    option: Option | None
    flag: str | None
    attached: str | None = None
    negated: bool = False
    problem: Literal["unknown", "prefix", "ambiguous"] | None = None
    path: tuple[str, ...] = ()
    matches: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grammar:
    """`also` are options that this version need not have: they are read, and marked unknown where it does not.
    `checks` judge the value of a flag in place of its kind.
    """

    options: OptionSet
    also: Sequence[Option] = ()
    checks: Mapping[str, Callable[[str], bool]] = field(default_factory=dict)
    _names: dict[str, tuple[Option, bool]] = field(init=False, repr=False, compare=False)
    _former: dict[str, tuple[Option, bool]] = field(init=False, repr=False, compare=False)
    _sorted: list[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = _names_of(self.options.options)
        for spelling, name in self.options.rewritten.items():
            if name in names:
                names.setdefault(spelling, names[name])
        former = {name: found for name, found in _names_of(self.also).items() if name not in names}
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_former", former)
        object.__setattr__(self, "_sorted", sorted(names))

    def find(self, word: str) -> Match | None:
        """What the word is as an option; None where it is a value or a positional."""
        if len(word) < 2 or word[0] != "-":
            return None
        if entry := self._exact(word):
            return _match(word, entry)
        key, equals, text = word.partition("=")
        attached = text if equals else None
        if equals and (entry := self._exact(key)):
            return _match(key, entry, attached)
        if self.options.dotted and "." in key:
            base, *path = key.split(".")
            if (entry := self._exact(base)) and entry[0].kind == "json":
                return _match(key, entry, attached, path=tuple(path))
        if match := self._guess(word, key, attached):
            return match
        if entry := self._former.get(self._spelling(key, self._former)):
            return Match(key, entry[0], None, attached, entry[1], "unknown")
        if (meant := self._meant(key)) is not None:
            option, negated = self._names[meant]
            return Match(key, option, None, attached, negated, "unknown", matches=(meant,))
        if _NEGATIVE_NUMBER.match(word) or " " in key:
            return None
        return Match(key, None, None, attached, problem="unknown")

    def option(self, flag: str) -> Option | None:
        """The option of that name, of this version or of `also`."""
        entry = self._names.get(flag) or self._former.get(flag)
        return entry[0] if entry else None

    def key(self, option: Option) -> str:
        """Where its value stands in `Parsed.values`."""
        return option.dest or option.name.lstrip("-").replace("-", "_")

    def _exact(self, name: str) -> tuple[Option, bool] | None:
        return self._names.get(self._spelling(name, self._names))

    def _spelling(self, name: str, names: Mapping[str, object]) -> str:
        if name not in names and self.options.underscores and name.startswith("--"):
            return name.replace("_", "-")
        return name

    def _meant(self, key: str) -> str | None:
        """The option that this is but for dashes and underscores, which this parser does not exchange."""
        both = (key.replace("_", "-"), f"--{key[2:].replace('-', '_')}") if key.startswith("--") else ()
        return next((name for name in both if name in self._names), None)

    def _guess(self, word: str, key: str, attached: str | None) -> Match | None:
        if word.startswith("--"):
            if not self.options.prefixes or len(key) < 3:
                return None
            beginning = key.replace("_", "-") if self.options.underscores else key
            values_by_name: dict[str, str | None] = dict.fromkeys(self._beginning(beginning), attached)
        else:
            # argparse: a short name may have its value glued on; a single dash may begin a longer name as well.
            begun = self._beginning(word) if self.options.prefixes else ()
            values_by_name = {name: None for name in begun if not name.startswith("--")}
            if self.options.glues and word[:2] in self._names:
                values_by_name[word[:2]] = word[2:]
        if len(values_by_name) > 1:
            return Match(key, None, None, attached, problem="ambiguous", matches=tuple(sorted(values_by_name)))
        for name, value in values_by_name.items():
            glued = not word.startswith("--") and value is not None
            return _match(
                name if glued else key,
                self._names[name],
                value,
                problem=None if glued else "prefix",
                matches=() if glued else (name,),
            )
        return None

    def _beginning(self, text: str) -> Iterator[str]:
        """The names that begin so, in alphabetical order."""
        at = bisect_left(self._sorted, text)
        return takewhile(lambda name: name.startswith(text), islice(self._sorted, at, None))


def _match(
    written: str,
    found: tuple[Option, bool],
    attached: str | None = None,
    *,
    problem: Literal["prefix"] | None = None,
    path: tuple[str, ...] = (),
    matches: tuple[str, ...] = (),
) -> Match:
    option, negated = found
    return Match(written, option, option.name, attached, negated, problem, path, matches)


def _names_of(options: Sequence[Option]) -> dict[str, tuple[Option, bool]]:
    """Every spelling → its option, and whether it says no."""
    names: dict[str, tuple[Option, bool]] = {}
    for option in options:
        names |= dict.fromkeys(option.names, (option, False)) | dict.fromkeys(option.negations, (option, True))
    return names
