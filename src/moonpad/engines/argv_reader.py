"""How the engines' own parsers read a command line: argparse as vLLM and SGLang use it, click as the others do.

Written after the behaviour of CPython's argparse (https://docs.python.org/3/library/argparse.html) and of vLLM's
subclass of it (vllm/utils/argparse_utils.py: underscores for dashes, `--json.key value`, `-O3`). Nothing here raises,
whatever the arguments are: what a parser would refuse is a `problem` of an occurrence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from msgspec import Struct
from msgspec import field as in_struct
from msgspec.structs import force_setattr

from moonpad.catalog.options import Option
from moonpad.engines.option_grammar import Grammar, Match
from moonpad.engines.value_checks import as_json, fits
from moonpad.values.records import replace

Problem = Literal["unknown", "prefix", "ambiguous", "missing-value", "invalid-value", "unexpected-value"]
Value = str | bool | tuple[str, ...] | Mapping[str, object]
"""A text; True or False of a flag; the words of an option that takes several; the object of JSON and dotted keys."""

_DEEPEST_KEY = 16
_DIGITS = re.compile(r"[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One option as it was written: the `length` words from `index` on.

    `written` is the option without a value that hangs on it by `=`. `flag` is its long name, None where this version's
    parser knows none, and `names` are all that this version has for it. `matches` are the names that a beginning
    stands for.
    """

    index: int
    length: int
    written: str
    flag: str | None
    value: str | bool | tuple[str, ...] | None
    problem: Problem | None = None
    matches: tuple[str, ...] = ()
    names: tuple[str, ...] = field(default=(), compare=False)


class Parsed(Struct, frozen=True):
    """`values` by the option's destination (`tensor_parallel_size`); of an option that is repeated the last one."""

    values: Mapping[str, Value] = in_struct(default_factory=dict)
    occurrences: tuple[Occurrence, ...] = ()
    positionals: tuple[tuple[int, str], ...] = ()
    by_name: Mapping[str, Occurrence] = in_struct(default_factory=dict)
    """Of each name of an option that is there the last occurrence, which wins."""

    def __post_init__(self) -> None:
        force_setattr(self, "values", MappingProxyType(dict(self.values)))
        force_setattr(self, "by_name", {name: option for option in self.occurrences for name in option.names})

    def occurrence(self, flag: str | None) -> Occurrence | None:
        """Where the option stands, under whichever of its names."""
        return self.by_name.get(flag) if flag is not None else None


def parse(argv: Sequence[str], grammar: Grammar, *, start: int = 0) -> Parsed:
    """Reads `argv` from the word `start` on; indexes count from the beginning of `argv`."""
    values: dict[str, Value] = {}
    dotted: dict[str, dict[str, object]] = {}
    occurrences: list[Occurrence] = []
    positionals: list[tuple[int, str]] = []
    at = start
    # Each word is looked up once: it may follow an option, and come next.
    matches = [None] * start + [grammar.find(word) for word in argv[start:]]
    while at < len(argv):
        if argv[at] == "--":
            positionals += enumerate(argv[at + 1 :], at + 1)
            break
        match = matches[at]
        if match is None:
            positionals.append((at, argv[at]))
            at += 1
            continue
        occurrence = _take(argv, at, match, matches, grammar)
        if match.option is not None and match.flag is not None:
            occurrence = replace(occurrence, names=match.option.names)
        occurrences.append(occurrence)
        at += occurrence.length
        if match.option is not None and occurrence.problem in (None, "prefix", "unknown", "invalid-value"):
            key = grammar.key(match.option)
            if match.path:
                _put(dotted.setdefault(key, {}), match.path, str(occurrence.value))
            elif occurrence.value is not None:
                values[key] = _object_of(match.option, occurrence.value)
    # vLLM appends what it gathered from dotted keys as one JSON argument at the end, so it replaces an earlier one.
    return Parsed({**values, **dotted}, tuple(occurrences), tuple(positionals))


def _take(argv: Sequence[str], at: int, match: Match, matches: Sequence[Match | None], grammar: Grammar) -> Occurrence:
    option, flag = match.option, match.flag
    if match.path:
        return _dotted(argv, at, match, matches)
    following = _following(argv, at, matches) if match.attached is None else []
    if option is None:
        # Whether an unknown option takes a value is not known; a word behind it most likely is one.
        value = match.attached if match.attached is not None else (following[0] if following else None)
        length = 1 if match.attached is not None else 1 + len(following[:1])
        return Occurrence(at, length, match.written, None, value, match.problem, match.matches)
    if match.negated or option.nargs == "0":
        problem: Problem | None = "unexpected-value" if match.attached is not None else match.problem
        return Occurrence(at, 1, match.written, flag, not match.negated, problem, match.matches)
    words = [match.attached] if match.attached is not None else following[: _most(option.nargs)]
    length = 1 if match.attached is not None else 1 + len(words)
    if len(words) < _least(option.nargs):
        return Occurrence(at, length, match.written, flag, None, "missing-value", match.matches)
    value_: str | bool | tuple[str, ...]
    if option.nargs == "1":
        value_ = words[0]
    elif option.nargs == "?":
        value_ = words[0] if words else True
    else:
        value_ = tuple(words)
    level = match.written.startswith("-O") and _DIGITS.match("".join(words))  # `-O 3` is a key of the object
    good = level or all(fits(option.kind, option.choices, word, grammar.checks.get(flag or "")) for word in words)
    problem = match.problem if good else "invalid-value"
    return Occurrence(at, length, match.written, flag, value_, problem, match.matches)


def _dotted(argv: Sequence[str], at: int, match: Match, matches: Sequence[Match | None]) -> Occurrence:
    """`--compilation-config.mode 3`: vLLM takes the next word whatever it is, an option too."""
    if match.attached is not None:
        value, length = match.attached, 1
    elif at + 1 < len(argv):
        value, length = argv[at + 1], 2
    else:
        return Occurrence(at, 1, match.written, match.flag, None, "missing-value", match.matches)
    problem: Problem | None = "invalid-value" if len(match.path) > _DEEPEST_KEY else match.problem
    if length > 1 and matches[at + 1] is not None:
        problem = problem or "missing-value"
    return Occurrence(at, length, match.written, match.flag, value, problem, match.matches)


def _following(argv: Sequence[str], at: int, matches: Sequence[Match | None]) -> Sequence[str]:
    """The words behind an option that could be its values: up to the next option or `--`."""
    places = range(at + 1, len(argv))
    end = next((place for place in places if matches[place] is not None or argv[place] == "--"), len(argv))
    return argv[at + 1 : end]


def _most(nargs: str) -> int | None:
    return int(nargs) if _DIGITS.match(nargs) else 1 if nargs == "?" else None


def _least(nargs: str) -> int:
    return int(nargs) if _DIGITS.match(nargs) else 1 if nargs == "+" else 0


def _object_of(option: Option, value: str | bool | tuple[str, ...]) -> Value:
    """JSON as the object that it is; everything else as written."""
    if option.kind == "json" and isinstance(value, str):
        document = as_json(value)
        if isinstance(document, dict):
            return document
    return value


def _put(into: dict[str, object], path: tuple[str, ...], text: str) -> None:
    """Sets `a.b` of a JSON object; `a.b+` is a list, written with commas."""
    *outer, last = path[:_DEEPEST_KEY]
    for name in outer:
        inner = into.get(name)
        if not isinstance(inner, dict):
            inner = into[name] = {}
        into = inner
    if last.endswith("+"):
        into[last.removesuffix("+")] = text.split(",")
        return
    document = as_json(text)
    into[last] = text if document is None else document
