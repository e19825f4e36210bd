"""What a program's parser takes: its options, and how it reads a word of a command line that is not spelt in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from moonpad.catalog.rows import Standing

Nargs = Literal["0", "1", "?", "*", "+"]
Kind = Literal["flag", "int", "float", "text", "json", "choice"]
How = Literal["exact", "underscores", "dotted", "attached", "prefix", "ambiguous", "unknown"]


@dataclass(frozen=True, slots=True)
class Option:
    """One option. `default` is the parser's, as text; None is none, or one that the engine computes at start.

    `kind` "json" takes a JSON object or list (vLLM: some take plain text beside it). `choices` are empty where the
    parser takes any text: what the engine then does with it is another matter, see `values_of`.
    """

    names: tuple[str, ...]
    kind: Kind
    nargs: str
    negations: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    default: str | None = None
    dest: str = ""
    deprecated: bool = False
    hidden: bool = False

    @property
    def name(self) -> str:
        """The spelling to write: the first long one."""
        return next((name for name in self.names if name.startswith("--")), self.names[0])

    @property
    def negatable(self) -> bool:
        return bool(self.negations)

    @property
    def takes_value(self) -> bool:
        """Whether a value has to follow."""
        return self.nargs == "+" or (self.nargs.isdecimal() and self.nargs != "0")


@dataclass(frozen=True, slots=True)
class Match:
    """What a flag of a command line is. `name` is its full spelling; `candidates` are several where it is ambiguous."""

    how: How
    option: Option | None = None
    name: str = ""
    negated: bool = False
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OptionSet:
    """The options of a program in one release.

    `exact` says that `version` is the release that was asked for; otherwise it is the nearest recorded one, and an
    option that it lacks may exist. `passes_on` names the program that gets the options which this one does not know.
    """

    program: str
    version: str
    options: tuple[Option, ...]
    exact: bool
    positionals: tuple[str, ...] = ()
    prefixes: bool = False
    underscores: bool = False
    dotted: bool = False
    passes_on: str = ""
    standing: Standing = "reported"
    source: str = ""
    checked: str = ""
    rewritten: Mapping[str, str] = field(default_factory=dict)
    by_name: Mapping[str, Option] = field(default_factory=dict, repr=False, compare=False)

    def named(self, flag: str) -> Option | None:
        """The option with exactly this spelling (a negated one too; `=value` is no part of it)."""
        return self.by_name.get(flag)

    def resolve(self, flag: str) -> Match:
        """What the parser makes of a word that begins with "-". The word may end in `=value`."""
        word = flag.partition("=")[0]
        if word in self.by_name:
            return self._match("exact", word)
        spelt = self._with_dashes(word)
        if spelt in self.by_name:
            return self._match("underscores", spelt)
        if self.dotted and "." in word:
            whole = self.resolve(word.partition(".")[0])
            json = whole.option is not None and whole.option.kind == "json"
            return Match("dotted", whole.option, whole.name, candidates=whole.candidates) if json else Match("unknown")
        if word.startswith("--"):
            return self._shortened(spelt) if self.prefixes and len(spelt) > len("--") else Match("unknown")
        return self._single_dash(word)

    def _with_dashes(self, word: str) -> str:
        if not self.underscores or not word.startswith("--"):
            return word
        head, dot, rest = word.partition(".")
        return head.replace("_", "-") + dot + rest

    def _single_dash(self, word: str) -> Match:
        """`-p8000`, `-O3`, `-dc`: a value written against a short option, or a shortened one."""
        rewritten = self.rewritten.get(word[:2], "")
        if rewritten in self.by_name:
            return self._match("attached", rewritten)
        short = self.by_name.get(word[:2])
        attached = short is not None and short.nargs != "0" and len(word) > len("-p")
        names = [name for name in self.by_name if self.prefixes and len(word) > 1 and name.startswith(word)]
        if attached and not names:
            return self._match("attached", word[:2])
        return self._one_of(names + [word[:2]] * attached)

    def _shortened(self, word: str) -> Match:
        return self._one_of([name for name in self.by_name if name.startswith(word)])

    def _one_of(self, names: list[str]) -> Match:
        if not names:
            return Match("unknown")
        if len(names) == 1:
            return self._match("prefix", names[0])
        return Match("ambiguous", candidates=tuple(sorted(names)))

    def _match(self, how: How, name: str) -> Match:
        option = self.by_name[name]
        return Match(how, option, name, name in option.negations, (name,))
