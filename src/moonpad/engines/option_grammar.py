"""The options of one program in one version, ready to recognise a word of a command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

_NEGATIVE_NUMBER = re.compile(r"-\d+$|-\d*\.\d+$")


class OptionLike(Protocol):
    """What is asked of an option; `catalog/options` has them as recorded from the engines' own parsers."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def nargs(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def choices(self) -> tuple[str, ...]: ...
    @property
    def negations(self) -> tuple[str, ...]: ...
    @property
    def dest(self) -> str: ...


class OptionSetLike(Protocol):
    @property
    def options(self) -> Sequence[OptionLike]: ...
    @property
    def positionals(self) -> tuple[str, ...]: ...
    @property
    def underscores(self) -> bool:
        """`--max_model_len` is `--max-model-len`."""

    @property
    def prefixes(self) -> bool:
        """An unambiguous beginning stands for the whole name."""

    @property
    def dotted(self) -> bool:
        """`--option.key value` sets one key of a JSON value."""

    @property
    def rewritten(self) -> Mapping[str, str]:
        """Spellings that the program replaces before it parses, as vLLM does with `-O3`."""


@dataclass(frozen=True, slots=True)
class Known:
    """An option that an engine's reader asks for, whatever the recorded version has."""

    names: tuple[str, ...]
    nargs: str = "1"
    kind: str = "text"
    negatable: bool = False
    choices: tuple[str, ...] = ()
    dest: str = ""

    @property
    def negations(self) -> tuple[str, ...]:
        long = (name.removeprefix("--") for name in self.names if name.startswith("--"))
        return tuple(f"--no-{name}" for name in long) if self.negatable else ()


@dataclass(frozen=True, slots=True)
class KnownSet:
    """Where nothing is recorded: only what the reader asks for is known."""

    options: tuple[OptionLike, ...]
    positionals: tuple[str, ...] = ()
    underscores: bool = False
    prefixes: bool = True
    dotted: bool = False
    rewritten: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Match:
    """A word that is an option. `attached`: the value behind `=` or glued to a short name. `path`: dotted keys.

    `flag` is None where this version has no such option, although `option` may be one of another version.
    """

    written: str
    option: OptionLike | None
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

    options: OptionSetLike
    also: Sequence[OptionLike] = ()
    checks: Mapping[str, Callable[[str], bool]] = field(default_factory=dict)
    _names: dict[str, tuple[OptionLike, bool]] = field(init=False, repr=False, compare=False)
    _former: dict[str, tuple[OptionLike, bool]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = _names_of(self.options.options)
        for spelling, name in self.options.rewritten.items():
            if name in names:
                names.setdefault(spelling, names[name])
        former = {name: found for name, found in _names_of(self.also).items() if name not in names}
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_former", former)

    def find(self, word: str) -> Match | None:
        """What the word is as an option; None where it is a value or a positional."""
        if len(word) < 2 or word[0] != "-":
            return None
        if found := self._exact(word):
            return _match(word, found)
        key, equals, text = word.partition("=")
        attached = text if equals else None
        if equals and (found := self._exact(key)):
            return _match(key, found, attached)
        if self.options.dotted and "." in key:
            base, *path = key.split(".")
            if (found := self._exact(base)) and found[0].kind == "json":
                return _match(key, found, attached, path=tuple(path))
        if match := self._guess(word, key, attached):
            return match
        if found := self._former.get(self._spelling(key, self._former)):
            return Match(key, found[0], None, attached, found[1], "unknown")
        if _NEGATIVE_NUMBER.match(word) or " " in key:
            return None
        return Match(key, None, None, attached, problem="unknown")

    def option(self, flag: str) -> OptionLike | None:
        """The option of that name, of this version or of `also`."""
        found = self._names.get(flag) or self._former.get(flag)
        return found[0] if found else None

    def key(self, option: OptionLike) -> str:
        """Where its value stands in `Parsed.values`."""
        return option.dest or long_name(option).lstrip("-").replace("-", "_")

    def _exact(self, name: str) -> tuple[OptionLike, bool] | None:
        return self._names.get(self._spelling(name, self._names))

    def _spelling(self, name: str, names: Mapping[str, object]) -> str:
        if name not in names and self.options.underscores and name.startswith("--"):
            return name.replace("_", "-")
        return name

    def _guess(self, word: str, key: str, attached: str | None) -> Match | None:
        if word.startswith("--"):
            if not self.options.prefixes or len(key) < 3:
                return None
            beginning = key.replace("_", "-") if self.options.underscores else key
            found = {name: attached for name in self._names if name.startswith(beginning)}
        else:
            # argparse: a short name may have its value glued on; a single dash may begin a longer name as well.
            found = {name: None for name in self._names if name.startswith(word) and not name.startswith("--")}
            if word[:2] in self._names:
                found[word[:2]] = word[2:]
        if len(found) > 1:
            return Match(key, None, None, attached, problem="ambiguous", matches=tuple(sorted(found)))
        for name, value in found.items():
            glued = not word.startswith("--") and value is not None
            return _match(
                name if glued else key,
                self._names[name],
                value,
                problem=None if glued else "prefix",
                matches=() if glued else (name,),
            )
        return None


def long_name(option: OptionLike) -> str:
    """The first name with two dashes, the first of all where there is none."""
    return next((name for name in option.names if name.startswith("--")), option.names[0])


def _match(
    written: str,
    found: tuple[OptionLike, bool],
    attached: str | None = None,
    *,
    problem: Literal["prefix"] | None = None,
    path: tuple[str, ...] = (),
    matches: tuple[str, ...] = (),
) -> Match:
    option, negated = found
    return Match(written, option, long_name(option), attached, negated, problem, path, matches)


def _names_of(options: Sequence[OptionLike]) -> dict[str, tuple[OptionLike, bool]]:
    """Every spelling → its option, and whether it says no."""
    names: dict[str, tuple[OptionLike, bool]] = {}
    for option in options:
        names |= dict.fromkeys(option.names, (option, False)) | dict.fromkeys(option.negations, (option, True))
    return names
