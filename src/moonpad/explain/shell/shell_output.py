"""What functions of a script write by heredocs and `echo`, and `$(…)` around them: text that becomes a file or a
command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from moonpad.explain.commands import Piece, Word, concatenated, join_words
from moonpad.explain.shell.bash_lexer import Lexer
from moonpad.explain.shell.bash_parser import Branches, Compound, Node, Parser, Simple
from moonpad.explain.shell.default_branches import TESTS
from moonpad.explain.shell.expansion import Expander, assignment_of
from moonpad.explain.shell.printed_formats import formatted
from moonpad.explain.shell.printed_json import PYTHONS, printed_json
from moonpad.explain.shell.tokens import LiteralText, Opaque
from moonpad.explain.source_text import Problems, Source

if TYPE_CHECKING:
    from moonpad.explain.shell.interpreter import Shell

_NAMES: Final = re.compile(r"\$\(\s*([A-Za-z_][\w-]*)")
_LOCATES: Final = re.compile(
    r"\$\(\s*(?:command\s+-v|which|type\s+-p)\s+([\w.-]{1,100})\s*(?:2>\s*/dev/null\s*)?(?:\|\|[^()`]{0,300})?\)"
)
"""Where a program lies: any path of it starts the same."""
_DECLARES: Final = frozenset({"local", "declare", "typeset", "readonly", "export"})
_SILENT: Final = frozenset({":", "set", "shift", "return", "true", "cd", "shopt", "trap"})
_SAYS: Final = frozenset({"echo", "printf"})
_ECHO_OPTIONS: Final = re.compile(r"-[neE]{1,3}")
_WHOLE_TEXTS: Final = (["%s"], [r"%s\n"])
_DEEPEST: Final = 3
_LONGEST: Final = 20_000


def written_by(shell: Shell, words: Sequence[Word]) -> Word | None:
    """What a call of a function of the script writes; None where that is not a text of heredocs alone."""
    if words[0].text not in shell.functions or shell.emitting >= _DEEPEST:
        return None
    if not any(_is_cat(node) for node in _flat(shell.functions[words[0].text])):
        return None
    return _of_function(shell, words, echoes=False)


def output_of(shell: Shell, part: Opaque) -> Word | None:
    """What `$(emit a b)` or `$(cat <<EOF …)` becomes; None where it is not known."""
    match = _NAMES.match(part.name)
    if match is None or shell.emitting >= _DEEPEST or len(part.name) > _LONGEST:
        return None
    inner = part.name[2:-1]
    if match[1] in ("command", "which", "type") and (located := _LOCATES.fullmatch(part.name)) is not None:
        place = shell.source.origin(part.start + located.start(1), part.start + located.end(1))
        return Word(located[1], pieces=(Piece(0, len(located[1]), *place),))
    if match[1] not in (*shell.functions, "printf") and not (match[1] in ("cat", *PYTHONS) and "<<" in inner):
        return None
    place = shell.source.origin(part.start + 2, part.end - 1)
    source = Source.inside(Word(inner, pieces=(Piece(0, len(inner), *place),)), shell.state.text)
    shell.state.budget.work(20 + len(inner), "its shells")
    problems = Problems(shell.state.text)
    nodes = Parser(Lexer(source, problems).tokens(), source, problems).statements()
    if len(nodes) != 1 or not isinstance(nodes[0], Simple):
        return None
    expander = Expander(source, shell.scope, shell.state.budget)
    words = [word for token in nodes[0].words for word in expander.fields(token)]
    here = next((redirect.here for redirect in nodes[0].redirects if redirect.here), None)
    text = None
    if words and words[0].text == "cat" and here is not None and len(words) == 1:
        text = expander.here(here)
    elif words and words[0].text in PYTHONS and here is not None and [word.text for word in words[1:]] in ([], ["-"]):
        text = printed_json(expander.here(here), shell.scope.variables)
    elif words and words[0].text in shell.functions:
        text = _of_function(shell, words, echoes=True)
    elif words and words[0].text == "printf" and not nodes[0].redirects:
        text = formatted(words[1:])
    if text is None:
        return None
    shell.state.budget.spend(1, len(text.text))
    return text


def _flat(body: Sequence[Node]) -> Iterator[Node]:
    for node in body:
        if isinstance(node, Compound):
            yield from _flat(node.body)
        else:
            yield node


def _is_cat(node: Node) -> bool:
    return (
        isinstance(node, Simple)
        and [token.text for token in node.words[:2]] == ["cat"]
        and any(redirect.here for redirect in node.redirects)
    )


def _of_function(shell: Shell, words: Sequence[Word], *, echoes: bool) -> Word | None:
    before, shell.scope.arguments = shell.scope.arguments, tuple(words[1:])
    shell.scope.push()
    shell.emitting += 1
    try:
        parts = _parts(shell, shell.functions[words[0].text], echoes)
    finally:
        shell.emitting -= 1
        shell.scope.pop()
        shell.scope.arguments = before
    if not parts:
        return None
    shell.ever_called.add(words[0].text)
    return concatenated(parts, parts[0])


def _parts(shell: Shell, body: Sequence[Node], echoes: bool) -> list[Word]:
    """[] where it does more than to write."""
    parts: list[Word] = []
    for node in _flat(body):
        if isinstance(node, Branches) and echoes and _only_sets(node):
            shell.statement(node)
            continue
        if not isinstance(node, Simple):
            return []
        here = next((redirect.here for redirect in node.redirects if redirect.here), None)
        if _is_cat(node) and here is not None and len(node.redirects) == 1:
            parts.append(shell.expander.here(here))
        elif echoes and _is_echo(node):
            parts += _echoed(shell, node, parts)
        elif not _sets(node):
            return []
        elif node.connector in ("&&", "||"):
            shell.statement(node)
        elif node.words[0].text in _DECLARES:
            shell.assign(node.words[1:], export=node.words[0].text == "export")
        elif assignment_of(node.words[0]) is not None:
            shell.assign(node.words, export=False)
    return parts


def _sets(node: Simple) -> bool:
    """Whether it sets variables, tests them, or says something to a person alone."""
    first = node.words[0].text if node.words else ""
    if node.connector == "|":
        return False
    if first in _SAYS and any(redirect.text == ">&" for redirect in node.redirects):
        return True
    if first in _DECLARES | _SILENT | TESTS:
        return True
    return bool(node.words) and all(assignment_of(token) is not None for token in node.words)


def _only_sets(node: Branches) -> bool:
    for each in (part for body in (node.conditions, *node.bodies) for part in _flat(body)):
        if not (_only_sets(each) if isinstance(each, Branches) else isinstance(each, Simple) and _sets(each)):
            return False
    return True


def _is_echo(node: Simple) -> bool:
    """`echo TEXT` and `printf '%s' TEXT`, to nothing but the output."""
    if node.connector or node.redirects or len(node.words) < 2:
        return False
    first, second = node.words[0].text, node.words[1].segments[:1]
    whole = [segment.text for segment in second if isinstance(segment, LiteralText)]
    return first == "echo" or (first == "printf" and whole[:1] in _WHOLE_TEXTS)


def _echoed(shell: Shell, node: Simple, before: Sequence[Word]) -> list[Word]:
    """On a line of its own behind what came before."""
    switches = 2 if node.words[0].text == "printf" else 1
    words = [word for token in node.words[switches:] for word in shell.expander.fields(token)]
    while words and _ECHO_OPTIONS.fullmatch(words[0].text):
        del words[0]
    return [*([Word("\n")] if before else []), join_words(words)]
