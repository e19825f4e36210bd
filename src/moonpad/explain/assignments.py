"""Assignments: `NAME=value`, `NAME+=value`, `NAME=( … )`, `NAME[0]=value`, and what of it is exported."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.expansion import Expander, Value, Variables, concatenated, unresolved
from moonpad.explain.input_limits import EXPORTED
from moonpad.explain.tokens import Array, LiteralText, Token
from moonpad.values.errors import UsageError

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]]*)\])?(\+?)=", re.ASCII)
_LONGEST_ARRAY: Final = 1_000


def is_assignment(token: Token) -> bool:
    first = token.segments[0] if token.segments else None
    return isinstance(first, LiteralText) and not first.quoted and _ASSIGNMENT.match(first.text) is not None


def value_of(token: Token, expander: Expander) -> tuple[str, Value] | None:
    """The name and its new value, at the place of the whole assignment; None where the word is not an assignment."""
    first, *rest = token.segments or (None,)
    if not isinstance(first, LiteralText) or first.quoted or (match := _ASSIGNMENT.match(first.text)) is None:
        return None
    name, index, plus = match.groups()
    before = expander.variables.get(name)
    elements = before if isinstance(before, tuple) else () if before is None else (before,)
    if rest and isinstance(rest[0], Array):
        words = expander.array(rest[0])
        return name, _checked((*elements, *words) if plus else words)
    start = first.start + match.end()
    if start < first.end:
        rest = [LiteralText(first.text[match.end() :], start, first.end, False), *rest]
    value = expander.scalar(rest, token.start, token.end)
    if index is not None:
        elements = before if isinstance(before, tuple) else ()
        if not (index.isascii() and index.isdigit() and len(index) < 9 and int(index) <= len(elements)):
            return name, unresolved(name, value)
        return name, _checked((*elements[: int(index)], value, *elements[int(index) + 1 :]))
    if not plus or before is None:
        return name, value
    if isinstance(before, tuple):
        return name, _checked((*before, value))
    expander.budget.spend(1, len(before.text))
    return name, concatenated((before, value), value)


def _checked(words: tuple[Word, ...]) -> tuple[Word, ...]:
    if len(words) > _LONGEST_ARRAY:
        raise UsageError(f"an array of the script has more than {_LONGEST_ARRAY} elements", remedy="shorten it")
    return words


class Scope:
    """Variables and exports of one shell, which change together."""

    def __init__(self, environment: Mapping[str, Word] | None = None, arguments: tuple[Word, ...] = ()) -> None:
        self.variables, self.exports = Variables(environment), Variables(environment)
        self.variables.arguments = arguments
        self.export_all = False
        self._environment: dict[str, Word] | None = None

    def set(self, name: str, value: Value, *, export: bool = False) -> None:
        self.variables[name] = value
        if export or self.export_all or name in self.exports:
            self.export(name, value)

    def export(self, name: str, value: Value) -> None:
        # An array cannot be exported.
        self.exports[name] = value if isinstance(value, Word) else unresolved(name, value)
        self._environment = None

    def environment(self) -> dict[str, Word]:
        """What a process started now would be given by the script. Raises UsageError beyond 1,000 names."""
        if self._environment is None:
            if len(self.exports) > EXPORTED:
                raise UsageError(
                    f"the script exports more than {EXPORTED:,} variables", remedy="remove the ones that are not needed"
                )
            self._environment = {name: value for name, value in self.exports.items() if isinstance(value, Word)}
        return self._environment

    def push(self) -> None:
        self.variables.push()
        self.exports.push()

    def pop(self) -> tuple[Mapping[str, Value], Mapping[str, Value]]:
        self._environment = None
        return self.variables.pop_layer(), self.exports.pop_layer()

    def join(self, branches: Sequence[tuple[Mapping[str, Value], Mapping[str, Value]]], exhaustive: bool) -> None:
        self.variables.join([variables for variables, _ in branches], exhaustive)
        self.exports.join([exports for _, exports in branches], exhaustive)
        self._environment = None
