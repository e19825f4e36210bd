"""Which branch of a condition a script takes by its own defaults: `[ "${SPREAD:-false}" = true ]`, and `case "$MODE"`
below `MODE="${1:-tp}"`. A person who runs it as it is written gets this one; others are switched by a variable."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import reduce
from typing import Final

from moonpad.explain.commands import whole_number
from moonpad.explain.shell.arithmetic import evaluate
from moonpad.explain.shell.bash_parser import Branches, Compound, For, Node, Simple
from moonpad.explain.shell.expansion import Expander, assignment_of
from moonpad.explain.shell.tokens import LiteralText, Opaque, Token, Variable
from moonpad.explain.source_text import IGNORED

TESTS: Final = frozenset({"[", "[[", "test"})
_COMPARED: Final[Mapping[str, Callable[[int, int], bool]]] = {
    **{"-eq": operator.eq, "-ne": operator.ne, "-lt": operator.lt, "-le": operator.le},
    **{"-gt": operator.gt, "-ge": operator.ge},
}
_JOINED: Final = {"&&": "&&", "||": "||", "-a": "&&", "-o": "||"}
_DIFFERS: Final = re.compile(
    r"rank|role|leader|master|is_?head|procid|(?:node|task|worker|host|proc)s?_?(?:id|idx|index|name|type)|hostname|^_$",
    re.IGNORECASE,
)
"""What each machine or each server of a deployment has of its own: all branches run, each on one of them."""
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PATTERN: Final = frozenset("*?[")
_LOOKED_AT: Final = 40
"""Words of a condition."""


class Defaults:
    """Conditions by what is known where they stand."""

    def __init__(self, expander: Expander) -> None:
        self.expander = expander
        self.changing: frozenset[str] = frozenset()
        """Variables that a loop around sets anew, of which the first pass alone is known."""

    @contextmanager
    def inside_loop(self, changed: frozenset[str]) -> Iterator[None]:
        before, self.changing = self.changing, self.changing | changed
        yield
        self.changing = before

    def is_sure(self, node: Branches) -> bool:
        """Whether all its variables are what started the shell has given it: no other branch runs."""
        if node.loops:
            return False
        tokens = (
            (node.subject,) if node.subject is not None else [word for each in node.conditions for word in _words(each)]
        )
        names = _names(tokens)
        return bool(names) and self.expander.scope.decides.issuperset(names)

    def branch(self, node: Branches) -> int | None:
        """The number of the body, -1 where none of them runs; None where what is known decides nothing."""
        if node.loops:
            return None
        if node.subject is not None:
            return self._of_case(node, node.subject)
        parts = [*_sections(node.conditions)]
        if len(parts) != len(node.bodies) - node.exhaustive:
            return None
        for number, part in enumerate(parts):
            if (holds := self.holds(part)) is None:
                return None
            if holds:
                return number
        return len(parts) if node.exhaustive else -1

    def holds(self, tests: Sequence[Node]) -> bool | None:
        """Whether a list of tests does, `[ A ] && [ B ]`."""
        result: bool | None = None
        for number, node in enumerate(tests):
            own = self.test(node) if isinstance(node, Simple) else None
            result = own if number == 0 or not isinstance(node, Simple) else joined(result, node.connector, own)
        return result

    def test(self, node: Simple) -> bool | None:
        """Whether one test does; None also for every other command."""
        words = node.words
        if node.arithmetic:
            return self._of_numbers(node.arithmetic)
        if not words or words[0].text not in TESTS or len(words) > _LOOKED_AT or node.connector == "|":
            return None
        text, double = self.expander.source.text, words[0].text == "[["
        inner = [*words[1:]]
        if words[0].text != "test":
            if inner[-1:] and inner[-1].text not in ("]", "]]"):
                return None
            inner = inner[:-1]
        parts: list[tuple[str, list[Token]]] = [("", [])]
        for before, token in zip(words, inner, strict=False):
            between = text[before.end : token.start].replace("\\\n", "").replace(IGNORED, "").strip()
            if between in ("&&", "||"):
                parts.append((between, [token]))
            elif between:
                return None  # brackets, and `<` between texts
            elif token.text in _JOINED and not double:
                parts.append((_JOINED[token.text], []))
            else:
                parts[-1][1].append(token)
        holds = _of_parts([(sign, self._atom(tokens, double)) for sign, tokens in parts])
        negated = text[max(0, words[0].start - 4) : words[0].start].rstrip().endswith("!")
        return holds if holds is None or not negated else not holds

    def _of_numbers(self, text: str) -> bool | None:
        """Whether `(( GPUS >= 8 ))` does."""
        if any(self._is_open(name) for name in _NAME.findall(text)):
            return None
        value = evaluate(text, self.expander.number)
        return None if value is None else value != 0

    def _atom(self, tokens: Sequence[Token], double: bool) -> bool | None:
        if tokens[:1] and tokens[0].text == "!":
            holds = self._atom(tokens[1:], double)
            return None if holds is None else not holds
        match len(tokens):
            case 1:
                value = self.value(tokens[0], double)
                return None if value is None else value != ""
            case 2 if tokens[0].text in ("-n", "-z"):
                value = self.value(tokens[1], double)
                return None if value is None else (value != "") == (tokens[0].text == "-n")
            case 3:
                return self._compared(tokens[0], tokens[1].text, tokens[2], double)
        return None

    def _compared(self, one: Token, sign: str, other: Token, double: bool) -> bool | None:
        first = self.value(one, double) if sign in ("=", "==", "!=", *_COMPARED) else None
        second = None if first is None else self.value(other, double)
        if first is None or second is None:
            return None
        if sign in _COMPARED:
            numbers = whole_number(first), whole_number(second)
            return None if numbers[0] is None or numbers[1] is None else _COMPARED[sign](numbers[0], numbers[1])
        plain = not double or not _PATTERN & {*second} or all(_is_quoted(segment) for segment in other.segments)
        return (first == second if plain else fnmatchcase(first, second)) == (sign != "!=")

    def value(self, token: Token, double: bool = True) -> str | None:
        """The one text of a word; None where it is not known."""
        for segment in token.segments:
            if isinstance(segment, Opaque):
                return None
            if isinstance(segment, Variable) and self._is_open(segment.name):
                return None
        words = self.expander.fields(token)
        if len(words) != 1:
            return "" if not words and double else None
        return None if words[0].unresolved else words[0].text

    def _is_open(self, name: str) -> bool:
        scope = self.expander.scope
        if name in scope.decides:
            return False
        of_job = not scope.sure_of_job and name in scope.of_job
        return of_job or name in self.changing or _DIFFERS.search(name) is not None

    def _of_case(self, node: Branches, subject: Token) -> int | None:
        value = self.value(subject) if any(isinstance(part, Variable) for part in subject.segments) else None
        if value is None:
            return self._of_default(node) if self._is_given_outside(subject) else None
        for number, pattern in enumerate(node.patterns):
            for each in pattern.split("|"):
                plain = each.strip("() \t\n\"'")
                if "$" in plain or plain == "?":
                    return None
                if fnmatchcase(value, plain):
                    return number
        return -1

    def _is_given_outside(self, subject: Token) -> bool:
        """Whether it is one variable or argument that the script never sets, so that it is empty where nobody gives
        it."""
        names, scope = _names((subject,)), self.expander.scope
        if len(names) != 1 or len(subject.segments) != 1 or self._is_open(names[0]) or names[0] in scope.variables:
            return False
        return scope.arguments is None or not names[0].isdigit()

    def _of_default(self, node: Branches) -> int | None:
        """The branch `*)`, where it goes on, of a choice among words: options are given in any number."""
        last = len(node.patterns) - 1
        if any(pattern.strip("( \t\n\"'").startswith("-") for pattern in node.patterns):
            return None
        if last < 1 or node.patterns[last].strip("() \t\n") != "*" or last >= len(node.bodies):
            return None
        return None if leaves(node.bodies[last]) else last


def leaves(body: Sequence[Node]) -> bool:
    """Whether these statements end with leaving the script."""
    return [part.words[0].text for part in body[-1:] if isinstance(part, Simple) and part.words] == ["exit"]


def joined(first: bool | None, sign: str, second: bool | None) -> bool | None:
    """What `&&` or `||` makes of two conditions."""
    if sign not in ("&&", "||"):
        return second
    ends = sign == "||"
    if ends in (first, second):
        return ends
    return None if first is None or second is None else not ends


def _of_parts(parts: Sequence[tuple[str, bool | None]]) -> bool | None:
    """`&&` binds closer than `||`."""
    groups: list[list[bool | None]] = []
    for sign, holds in parts:
        if sign == "&&":
            groups[-1].append(holds)
        else:
            groups.append([holds])
    each = [reduce(lambda one, other: joined(one, "&&", other), group) for group in groups]
    return reduce(lambda one, other: joined(one, "||", other), each)


def _sections(conditions: Sequence[Node]) -> Iterator[list[Node]]:
    """Those of `if` and of each `elif`."""
    part: list[Node] = []
    for node in conditions:
        if part and not (isinstance(node, Simple) and node.connector):
            yield part
            part = []
        part.append(node)
    if part:
        yield part


def _is_quoted(segment: object) -> bool:
    return isinstance(segment, LiteralText | Variable) and segment.quoted


def switch_of(node: Branches, number: int) -> str:
    """What a person sets for another branch than the script's own: `SPREAD=true`, `MODE=dp`, the variable alone where
    the condition asks for more than one value; "" where it names none."""
    if node.subject is not None:
        names = _names((node.subject,))
        wanted = node.patterns[number].partition("|")[0].strip("() \t\n\"'") if number < len(node.patterns) else ""
    else:
        parts = [*_sections(node.conditions)]
        own = parts[number : number + 1] or parts
        tokens = [token for part in own for test in part for token in _words(test)]
        names, wanted = _names(tokens), ""
        inner = [token for token in tokens if token.text not in TESTS | {"]", "]]"}]
        if number < len(parts) and len(inner) == 3 and inner[1].text in ("=", "=="):
            wanted = "".join(part.text for part in inner[2].segments if isinstance(part, LiteralText))
    plain = wanted and not {*wanted} & {*"*?[$", " "}
    if len(names) != 1:
        return next(iter(names), "")
    return f"{names[0]}={wanted}" if plain else names[0]


def _words(node: Node) -> tuple[Token, ...]:
    return node.words if isinstance(node, Simple) else ()


def _names(tokens: Sequence[Token]) -> list[str]:
    segments = (segment for token in tokens for segment in token.segments)
    return [*dict.fromkeys(segment.name for segment in segments if isinstance(segment, Variable))]


def set_in(body: Sequence[Node]) -> frozenset[str]:
    """Variables that these statements set."""
    names: set[str] = set()
    for node in body:
        match node:
            case Simple(words):
                matches = (assignment_of(token) for token in words)
                names |= {match[1] for match in matches if match is not None}
            case For(name, _, inner):
                names |= {name, *set_in(inner)}
            case Branches(conditions, bodies):
                names = names.union(set_in(conditions), *map(set_in, bodies))
            case Compound(inner):
                names |= set_in(inner)
            case _:
                pass
    return frozenset(names)
