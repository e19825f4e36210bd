"""Which lines of a text are about one deployment, for checks that look at the text itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.programs import OTHERS, is_server

_NOT_ASKED: Final = frozenset({"other", "docker", *OTHERS.values()})
"""Programs that no check of a text is asked about: `ray start` above a server says nothing of the server's text."""
_LONGEST: Final = 1000
_USUAL: Final = 400_000
"""Characters that hardly a guide has: beyond them each scan takes long, and a text near the limit is refused early."""


def span_of(commands: Sequence[Command], script: Script) -> tuple[int, int]:
    """The first and the last line from behind the server above to the end of these commands."""
    first = min(command.line for command in commands)
    last = max((word.end_line for command in commands for word in command.words), default=first)
    others = [command for command in script.commands if command.program not in ("other", "docker")]
    above = [word.end_line for command in others if command.line < first for word in command.words[-1:]]
    script.budget.work(len(script.commands) // 4, "its engine commands")
    top = max((line for line in above if line < first), default=0)
    return top + 1, min(last, len(script.lines))


def is_first(commands: Sequence[Command], script: Script) -> bool:
    """Whether what concerns the whole text is said with these commands."""
    first = min(command.line for command in commands)
    return all(command.line >= first for command in script.commands if command.program not in _NOT_ASKED)


def is_first_server(commands: Sequence[Command], script: Script) -> bool:
    """The same of texts that show options alone before their first command: those are judged by themselves."""
    line, first, seen = min(command.line for command in commands), 0, 0
    for command in script.commands:
        seen += 1
        if is_server(command.program):
            first = min(first, command.line) if first else command.line
        if 0 < first < line:
            break
    script.budget.work(seen, "its engine commands")
    return first == line if first else is_first(commands, script)


def numbered(script: Script, first: int, last: int) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, long ones cut."""
    count = max(0, last - first)
    more = _beyond_usual(script.lines) * count // max(1, len(script.lines))
    script.budget.work(count // 3 + more // 2, "its engine commands")
    for line in range(max(first, 1), min(last, len(script.lines)) + 1):
        yield line, script.lines[line - 1][:_LONGEST]


@lru_cache(maxsize=2)
def _beyond_usual(lines: tuple[str, ...]) -> int:
    """Steps to look once through what a text has beyond the size of a guide: its lines are long then."""
    return max(0, sum(min(len(line), _LONGEST) for line in lines) - _USUAL) // 64


def block_of(commands: Sequence[Command], script: Script) -> tuple[int, int]:
    """The lines of the file, in a document of the fence, that the first of these commands stands in."""
    first, _ = span_of(commands, script)
    line = min(command.line for command in commands)
    name, _ = script.place(line)
    start = first
    for number in range(line - 1, first - 1, -1):
        text = script.lines[number - 1].lstrip()
        if script.place(number)[0] != name or text.startswith(("```", "~~~")):
            start = number + 1
            break
    return start, span_of(commands, script)[1]
