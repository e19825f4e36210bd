"""Assignments: `NAME=value`, `NAME+=value`, `NAME=( … )`, `NAME[0]=value`, and what of it is exported."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from moonpad.explain.commands import Piece, Word
from moonpad.explain.expand import Expander, Value, Variables, unresolved
from moonpad.explain.limits import EXPORTED
from moonpad.explain.tokens import Array, RawWord, Text
from moonpad.values.errors import UsageError

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]]*)\])?(\+?)=", re.ASCII)
_LONGEST_ARRAY: Final = 1_000


def is_assignment(raw: RawWord) -> bool:
    return _match(raw) is not None


def _match(raw: RawWord) -> re.Match[str] | None:
    if not raw.segments or not isinstance(first := raw.segments[0], Text) or first.quoted:
        return None
    return _ASSIGNMENT.match(first.text)


def value_of(raw: RawWord, expander: Expander) -> tuple[str, Value] | None:
    """The name and its new value, at the place of the whole assignment; None where the word is no assignment."""
    match, first = _match(raw), raw.segments[0] if raw.segments else None
    if match is None or not isinstance(first, Text):
        return None
    name, index, plus = match.groups()
    rest = raw.segments[1:]
    before = expander.variables.get(name)
    if rest and isinstance(rest[0], Array):
        words = expander.array(rest[0])
        old = before if isinstance(before, tuple) else (before,) if isinstance(before, Word) else ()
        return name, _checked((*old, *words) if plus else words)
    if match.end() < len(first.text):
        rest = (Text(first.text[match.end() :], first.start + match.end(), first.end, False), *rest)
    value = expander.scalar(rest, raw.start, raw.end)
    if index is not None:
        return name, _with_element(before, index, value, name)
    if plus and isinstance(before, tuple):
        return name, _checked((*before, value))
    if plus and isinstance(before, Word):
        return name, _appended(before, value, expander)
    return name, value


def _with_element(before: Value | None, index: str, value: Word, name: str) -> Value:
    old = before if isinstance(before, tuple) else ()
    if index.isascii() and index.isdigit() and int(index[:9]) <= len(old):
        at = int(index[:9])
        return _checked((*old[:at], value, *old[at + 1 :]))
    return unresolved(name, value)


def _appended(before: Word, value: Word, expander: Expander) -> Word:
    expander.budget.spend(1, len(before.text))
    shift = len(before.text)
    pieces = (*before.pieces, *(Piece(p.start + shift, p.end + shift, *p[2:]) for p in value.pieces))
    names = tuple(dict.fromkeys((*before.unresolved, *value.unresolved)))
    return replace(value, text=before.text + value.text, unresolved=names, pieces=pieces)


def _checked(words: tuple[Word, ...]) -> tuple[Word, ...]:
    if len(words) > _LONGEST_ARRAY:
        raise UsageError(f"an array of the script has more than {_LONGEST_ARRAY} elements", remedy="shorten it")
    return words


class Scope:
    """Variables and exports of one shell, which change together."""

    def __init__(self, variables: Variables, exports: Variables) -> None:
        self.variables, self.exports = variables, exports
        self.export_all = False
        self._environment: dict[str, Word] | None = None

    def set(self, name: str, value: Value, *, export: bool = False) -> None:
        self.variables.set(name, value)
        if export or self.export_all or self.exports.get(name) is not None:
            self.export(name, value)

    def export(self, name: str, value: Value) -> None:
        # An array cannot be exported.
        self.exports.set(name, value if isinstance(value, Word) else unresolved(name, value))
        self._environment = None

    def environment(self) -> dict[str, Word]:
        """What a process started now would be given by the script. Raises UsageError beyond 1,000 names."""
        if self._environment is None:
            pairs = self.exports.items()
            if len(pairs) > EXPORTED:
                raise UsageError(
                    f"the script exports more than {EXPORTED:,} variables", remedy="remove those not needed"
                )
            self._environment = {name: value for name, value in pairs.items() if isinstance(value, Word)}
        return self._environment

    def push(self) -> None:
        self.variables.push()
        self.exports.push()

    def pop(self) -> tuple[dict[str, Value], dict[str, Value]]:
        self._environment = None
        return self.variables.pop(), self.exports.pop()

    def join(self, branches: list[tuple[dict[str, Value], dict[str, Value]]], exhaustive: bool) -> None:
        self.variables.join([variables for variables, _ in branches], exhaustive)
        self.exports.join([exports for _, exports in branches], exhaustive)
        self._environment = None
