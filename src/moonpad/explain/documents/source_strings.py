"""Commands in the strings of programs in other languages: TypeScript, Go, Rust, Java."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.explain.commands import Command, Piece, Word
from moonpad.explain.programs import is_server
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.source_text import Source
from moonpad.explain.word_lists import more
from moonpad.values.records import replace

_CODE: Final = re.compile(
    r"^[ \t]*(?:import .+ from ['\"]|(?:export )?(?:default )?(?:async )?(?:const|let|function|interface|enum) [\w{\[]"
    r"|module\.exports|package [\w.]+;?$|func (?:\(\w+ \*?\w+\) )?\w+\(|(?:pub )?fn \w+\(|use \w+::|#include [<\"]"
    r"|public (?:final )?(?:class|static|interface) )",
    re.MULTILINE,
)
_LITERAL: Final = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`", re.DOTALL)
_STARTS: Final = re.compile(
    r"\s*(?:\$ )?(?:[A-Z][A-Z0-9_]*=\S+\s+)*(?:(?:sudo|nohup|docker|podman|python3?)\b[^\n]*?|\S*/)?"
    rf"(?:{SPEAKING.pattern})"
)
_COMMENT: Final = re.compile(
    rf"(?P<literal>{re.sub(r'[(](?![?])', '(?:', _LITERAL.pattern)})|(?<!:)//[^\n]*|/\*.*?\*/", re.DOTALL
)
"""A literal, in which nothing is a comment, or a comment of such a language."""
_LISTED: Final = re.compile(
    r"(?<![\w$.])(?P<name>[A-Za-z_$][\w$]{0,40})(?:[ \t]*:[ \t]*[\w<>\[\]]{1,40})?[ \t]*:?=[ \t]*\[\s*$"
)
"""In front of the first item of a list that becomes a command."""
_GOES_ON: Final = re.compile(r"\s*\+(?!=)")
_ASSIGNED: Final = re.compile(r"(?<![\w$.])(?P<name>[A-Za-z_$][\w$]{0,40})[ \t]*:?=[ \t]*$")
_BESIDE: Final = re.compile(r"(?:[;\s]|//[^\n]*\n)*")
_ELSE: Final = re.compile(r"\belse\s*\{?[^{}]*$")
_NEAR: Final = 120
_MOST: Final = 100
_LONGEST: Final = 20_000


def is_source(text: str) -> bool:
    """Whether it is a program in such a language."""
    return not text.lstrip("\0\n\t ").startswith("#!") and "```" not in text and len(_CODE.findall(text[:50_000])) > 0


def is_commented(text: str) -> bool:
    """Whether it is a program in such a language of which nothing but comments names an engine's command: an example
    for who reads it."""
    return is_source(text) and _speaks_in_comments(text)


def _speaks_in_comments(text: str) -> bool:
    return SPEAKING.search(text) is not None and SPEAKING.search(_without_comments(text)) is None


def _without_comments(text: str) -> str:
    """With blanks in their places."""
    return _COMMENT.sub(lambda match: match[0] if match["literal"] else re.sub(r"[^\n]", " ", match[0]), text)


def read_strings(text: str, start: int, state: ScriptState) -> bool:
    """Adds the servers that its strings start. False where there are none, and something else of it may start one."""
    before = len(state.commands)
    state.budget.work(len(text) // 4, "its strings")
    written, text = text, _without_comments(text)
    for word, is_open in islice(_commands(text, start, state), _MOST):
        first, problems = len(state.commands), len(state.problems.items)
        Shell(state, Source.inside(word, state.text)).read()
        servers = [command for command in state.commands[first:] if is_server(command.program)]
        state.commands[first:] = [_left_open(command) if is_open else command for command in servers]
        if len(state.commands) == first:
            del state.problems.items[problems:]
    return len(state.commands) > before or _speaks_in_comments(written)


def _left_open(command: Command) -> Command:
    return replace(command, argv=(*command.argv, more("<what the program adds>", command.line)))


def _commands(text: str, start: int, state: ScriptState) -> Iterator[tuple[Word, bool]]:
    """The literals that begin with an engine's command, each with those that the program appends to the variable which
    holds it, and whether more may come: where one is appended under a condition, or an expression is."""
    for match in _LITERAL.finditer(text):
        group = _group_of(match)
        if len(match[group]) > _LONGEST or not _STARTS.match(match[group]):
            continue
        parts, is_open = [match], False
        if (named := _ASSIGNED.search(text[max(0, match.start() - _NEAR) : match.start()])) is not None:
            state.budget.work(len(text) // 4, "its strings")
            for appended, together in _appended(text, match.end(), re.escape(named["name"])):
                is_open |= appended is None or not together
                parts += [appended] if appended is not None else []
        is_open = is_open or _is_item(text, match) or _GOES_ON.match(text, match.end()) is not None
        yield _joined(parts, start), is_open


def _is_item(text: str, literal: re.Match[str]) -> bool:
    """Whether it is the first item of a list that has more of them later on: `parts.push(…)`."""
    listed = _LISTED.search(text[max(0, literal.start() - _NEAR) : literal.start()])
    if listed is None:
        return False
    return (
        re.search(rf"(?<![\w$.]){re.escape(listed['name'])}\.(?:push|append|unshift|concat|join)\(", text) is not None
    )


def _appended(text: str, behind: int, name: str) -> Iterator[tuple[re.Match[str] | None, bool]]:
    """What is appended to the variable until it is declared again; None for an expression, and for what stands behind
    `else`. And whether nothing stands between it and what was there before."""
    again = re.compile(rf"\b(?:let|var|const)\s+{name}\b|^\s*{name}\s*:=", re.MULTILINE).search(text, behind)
    append = re.compile(rf"(?<![\w$.]){name}\s*\+=\s*")
    places = append.finditer(text, behind, again.start() if again is not None else len(text))
    for place in islice(places, _MOST):
        literal = _LITERAL.match(text, place.end())
        together = _BESIDE.fullmatch(text, behind, place.start()) is not None
        is_other = _ELSE.search(text[max(0, place.start() - _NEAR) : place.start()]) is not None
        yield None if is_other else literal, together
        behind = literal.end() if literal is not None else place.end()


def _group_of(literal: re.Match[str]) -> int:
    return next((number for number in (1, 2, 3) if literal[number] is not None), 1)


def _joined(literals: list[re.Match[str]], start: int) -> Word:
    whole, pieces = "", list[Piece]()
    for match in literals:
        group = _group_of(match)
        written = match[group]
        begin, end = start + match.start(group), start + match.end(group)
        plain = re.sub(r"\\(.)", lambda escaped: {"n": "\n", "t": "\t"}.get(escaped[1], escaped[1]), written)
        kept = written if group == 3 and "\\\n" in written else plain
        pieces.append(Piece(len(whole), len(whole) + len(kept), begin, end))
        whole += kept
    return Word(whole, pieces=tuple(pieces))
