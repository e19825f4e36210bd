"""Tests of a shell, `[ -n "$NAME" ]`: what they say of variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.scope import Scope
from moonpad.explain.tokens import LiteralText, Token, Variable

TESTS: Final = frozenset({"[", "[[", "test"})


def decided(words: Sequence[Token], scope: Scope) -> bool | None:
    """Whether `[ -n "$NAME" ]` or `[ -z "$NAME" ]` holds, where the variable is known to have a value; None for every
    other test."""
    inner = [word for word in words if word.text not in TESTS and word.text not in ("]", "]]")]
    if len(inner) != 2 or inner[0].text not in ("-n", "-z") or len(inner[1].segments) != 1:
        return None
    variable = inner[1].segments[0]
    if not isinstance(variable, Variable) or variable.operand:
        return None
    value = scope.variables.get(variable.name)
    known = isinstance(value, Word) and value.text != "" and not value.unresolved
    return inner[0].text == "-n" if known else None


def lacking_in(words: Sequence[Token], holds: bool) -> frozenset[str]:
    """Variables that are empty or not set where a test holds, or does not: `[ -z "$TP" ]`, `[ "${TP:-}" = "" ]`,
    `[[ ! -v TP ]]`."""
    texts = [word.text for word in words]
    empty = any(
        word.segments and all(isinstance(part, LiteralText) and part.quoted and not part.text for part in word.segments)
        for word in words
    )
    asks_lack = "-z" in texts or (empty and bool({"=", "=="} & set(texts)))
    if not asks_lack and not {"-n", "-v"} & set(texts):
        return frozenset()
    if (asks_lack != ("!" in texts)) != holds:
        return frozenset()
    names = {segment.name for word in words for segment in word.segments if isinstance(segment, Variable)}
    return frozenset(names | {texts[at + 1] for at, text in enumerate(texts[:-1]) if text == "-v"})
