"""Keys that the text takes from a variable stay its name in the lines that are shown: what the variable holds would be
printed as `***`, which no server takes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from moonpad.explain.commands import Command, Script, Word
from moonpad.explain.results import Judged, Line
from moonpad.values.records import replace

_LONGEST: Final = 2000
_KEY: Final = re.compile(r"--?[\w-]*(?:api[-_]?key|token|password)|\w*(?:KEY|TOKEN|SECRET|PASSWORD)")
"""An option or a variable of which a key is the value."""
_USE: Final = re.compile(r"(?:[\w-]+=)?\$(?:(?P<name>[A-Za-z_]\w{0,80})|\{(?P<braced>[A-Za-z_]\w{0,80})\})", re.ASCII)

Uses = Mapping[tuple[str, str], str]
"""Option and value, or variable and value, and the variable out of which the text takes that."""


def takes_key(name: str) -> bool:
    """Whether a key is the value of the option or the variable of this name."""
    return _KEY.fullmatch(name) is not None


def with_named_keys(judged: Judged, commands: Sequence[Command], script: Script) -> Judged:
    uses = {pair: name for command in commands for pair, name in _uses(command, script)}
    if not uses:
        return judged
    above = {
        name
        for command in commands
        for name, word in command.env.items()
        if name in uses.values() and word.line < command.line
    }

    def named(lines: Sequence[Line]) -> tuple[Line, ...]:
        return tuple(_named(line, uses, above) for line in lines)

    better = tuple(replace(each, lines=named(each.lines)) for each in judged.better)
    return replace(judged, commands=named(judged.commands), corrected=named(judged.corrected), better=better)


def _uses(command: Command, script: Script) -> Iterator[tuple[tuple[str, str], str]]:
    words = command.words
    for before, word in pairwise((Word(""), *words)):
        option, equals, value = word.text.partition("=")
        option, value = (option, value) if equals else (before.text, word.text)
        if not _KEY.fullmatch(option) or "$" in value or not value:
            continue
        if (name := _variable(word, script)) is not None:
            yield (option, value), name


def _variable(word: Word, script: Script) -> str | None:
    """The variable that is the whole value, as the script writes it."""
    if not 0 < word.line <= len(script.lines) or word.end_line != word.line:
        return None
    written = script.lines[word.line - 1][word.column : word.end_column]
    match = _USE.fullmatch(written.replace('"', "")) if len(written) < _LONGEST else None
    return (match["name"] or match["braced"]) if match is not None else None


def _named(line: Line, uses: Uses, above: Collection[str]) -> Line:
    """`above`: variables that the text sets before the line, which has them then."""
    argv: list[str] = []
    for text in line.argv:
        option, equals, value = text.partition("=")
        option, value = (option, value) if equals else (argv[-1] if argv else "", text)
        name = uses.get((option, value))
        argv.append(text if name is None else f"{option}=${name}" if equals else f"${name}")
    if tuple(argv) == line.argv:
        return line
    env = {name: text for name, text in line.env.items() if name not in above}
    return replace(line, env=env, argv=tuple(argv), unresolved=line.unresolved | {*uses.values()})
