"""Loops of a script: the values of a `for`, and a `while` that goes through the arguments that the script was given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from moonpad.explain.commands import Word
from moonpad.explain.input_limits import LOOP_VALUES
from moonpad.explain.shell.bash_parser import Branches, For, Node, Simple
from moonpad.explain.shell.default_branches import set_in
from moonpad.explain.shell.scope import Scope, text_of, unresolved
from moonpad.explain.shell.tokens import LiteralText, Token, Variable
from moonpad.values.records import replace

if TYPE_CHECKING:
    from moonpad.explain.shell.interpreter import Shell

_RANGE: Final = re.compile(r"(?:\{(\d{1,6})\.\.(\d{1,6})\}|\$\(seq (\d{1,6}) (\d{1,6})\))", re.ASCII)
_GETOPTS: Final = "getopts"
_OPTION: Final = re.compile(r"-([A-Za-z0-9])(.*)", re.DOTALL)


def loop_values(shell: Shell, node: For) -> list[Word]:
    """Empty where they are unknown."""
    words = [word for token in node.values for word in shell.expander.fields(token)]
    if len(words) == 1 and (match := _RANGE.fullmatch(words[0].text)):
        first, last = (int(text) for text in match.groups() if text is not None)
        if first <= last < first + LOOP_VALUES:
            return [replace(words[0], text=str(n), unresolved=(), pieces=()) for n in range(first, last + 1)]
    if any(_is_pattern(token) for token in node.values):
        return []
    return [] if any(name[:1] in "$`" for word in words for name in word.unresolved) else words


def _is_pattern(token: Token) -> bool:
    """`/sys/class/infiniband/*`: the files of a machine, which no text knows."""
    return any(isinstance(part, LiteralText) and not part.quoted and "*" in part.text for part in token.segments)


@contextmanager
def filling(scope: Scope, body: Sequence[Node]) -> Iterator[None]:
    """While the body of a loop is read that cannot be followed. What was empty before it, and gets a value in it that
    is not known, is unknown behind it: `HCA=""`, and `HCA+=",$(basename "$folder")"` for each folder of the machine."""
    empty = {name for name in set_in(body) if text_of(scope.variables.get(name, Word(""))) == ""}
    before, scope.filled = scope.filled, set()
    yield
    for name in sorted(empty & scope.filled):
        value = scope.variables.get(name)
        if not isinstance(value, tuple):
            scope.set(name, unresolved(name, value or Word("")))
    scope.filled |= before


def reads_arguments(shell: Shell, node: Branches) -> bool:
    """Reads the body of `while [ $# -gt 0 ]; do case $1 in … shift` once for each argument of a script whose call is
    in the text, and of `while getopts …` for each option. False where it is another loop."""
    scope = shell.scope
    test = node.conditions[0] if len(node.conditions) == 1 else None
    if not node.loops or not scope.called or not scope.arguments or not isinstance(test, Simple):
        return False
    if [word.text for word in test.words[:1]] == [_GETOPTS] and len(test.words) > 2:
        _read_options(shell, node, test.words)
        return True
    names = {part.name for word in test.words for part in word.segments if isinstance(part, Variable)}
    if not names & {"#", "1"} or not names <= {"#", "1"}:
        return False
    for _ in range(LOOP_VALUES):
        left = scope.arguments
        if not left:
            break
        _read_body(shell, node)
        if scope.arguments is None or len(scope.arguments) >= len(left):
            scope.arguments = None  # it goes on in another way
            break
    return True


def _read_options(shell: Shell, node: Branches, words: tuple[Token, ...]) -> None:
    """`getopts "m:t:" option`: each option of the arguments, its value in OPTARG."""
    scope = shell.scope
    known = "".join(word.text for word in shell.expander.fields(words[1])).lstrip(":")
    takes = {letter for letter, behind in pairwise(known) if behind == ":"}
    left = [*(scope.arguments or ())]
    for _ in range(LOOP_VALUES):
        match = _OPTION.fullmatch(left[0].text) if left else None
        if match is None:
            break
        word = left.pop(0)
        scope.give(words[2].text, replace(word, text=match[1], unresolved=(), pieces=()))
        if match[1] in takes and (match[2] or left):
            value = replace(word, text=match[2], pieces=()) if match[2] else left.pop(0)
            scope.set("OPTARG", value)
        elif match[2]:
            left.insert(0, replace(word, text=f"-{match[2]}", pieces=()))
        _read_body(shell, node)
    scope.set("OPTARG", unresolved("OPTARG", Word("")))


def _read_body(shell: Shell, node: Branches) -> None:
    paid, shell.paid = shell.paid, True
    shell.statements(node.bodies[0] if node.bodies else ())
    shell.paid = paid
