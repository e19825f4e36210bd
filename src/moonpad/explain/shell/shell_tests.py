"""Tests of a shell, `[ -n "$NAME" ]`: what they say of variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from moonpad.explain.commands import Word
from moonpad.explain.shell.bash_parser import Branches, Node, Simple
from moonpad.explain.shell.default_branches import TESTS, leaves
from moonpad.explain.shell.scope import Scope, unresolved
from moonpad.explain.shell.tokens import LiteralText, Token, Variable

_ON_DISK: Final = frozenset({"-e", "-f", "-d", "-s", "-r", "-L", "-h"})


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


def tested_values(conditions: Iterable[Node], scope: Scope) -> frozenset[str]:
    """Variables that have the very value that a condition asks for: TP of `TP=auto`, `if [ "$TP" = auto ]; then`."""
    tests = [test.words for test in conditions if isinstance(test, Simple)]
    triples = [triple for words in tests for triple in zip(words, words[1:], words[2:], strict=False)]
    names: set[str] = set()
    for variable, sign, literal in triples:
        if sign.text in ("=", "==") and len(variable.segments) == 1:
            segment, given = variable.segments[0], literal.segments
            text = "".join(part.text for part in given if isinstance(part, LiteralText))
            value = scope.variables.get(segment.name) if isinstance(segment, Variable) else None
            if text and isinstance(segment, Variable) and isinstance(value, Word) and value.text == text:
                names.add(segment.name)
    return frozenset(names)


def tested_files(conditions: Iterable[Node]) -> frozenset[str]:
    """Variables that name what a condition looks for on the disk: MODEL of `[ ! -f "$MODEL/config.json" ]`."""
    tests = [test.words for test in conditions if isinstance(test, Simple)]
    looked_at = (word for words in tests for sign, word in pairwise(words) if sign.text in _ON_DISK)
    return frozenset(part.name for word in looked_at for part in word.segments if isinstance(part, Variable))


def demanded(words: Sequence[Token]) -> tuple[str, Token] | None:
    """The variable and what it has to be where `[ "$TP" -ne 8 ]` or `[[ $TP != 8 ]]` ends the script; None for other
    tests."""
    inner = [word for word in words if word.text not in TESTS and word.text not in ("]", "]]")]
    if len(inner) != 3 or inner[1].text not in ("-ne", "!=") or len(inner[0].segments) != 1:
        return None
    variable, value = inner[0].segments[0], inner[2]
    plain = all(isinstance(part, LiteralText) and not set(part.text) & set("*?[") for part in value.segments)
    if not isinstance(variable, Variable) or variable.subscript or not value.segments or not plain:
        return None
    return variable.name, value


def ends(node: Branches) -> bool:
    """Whether its first body leaves the script."""
    return leaves(node.bodies[0]) if node.bodies else False


def asked_for(node: Branches, scope: Scope) -> None:
    """`TP=${TP:-}`, and `if [ -z "$TP" ]; then exit 1; fi`: who calls the script gives it a value."""
    if len(node.bodies) != 1 or not ends(node):
        return
    for test in node.conditions:
        if isinstance(test, Simple):
            asked_by(lacking_in(test.words, True), scope)


def asked_by(names: Iterable[str], scope: Scope) -> None:
    """The same of a test before `||` and `&&`, where what follows leaves the script."""
    for name in names:
        if isinstance(value := scope.variables.get(name), Word) and not value.text:
            scope.set(name, unresolved(name, value))
