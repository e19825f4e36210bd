"""Commands that a script prints for its reader, line by line with `echo`, where it starts none itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.explain.commands import Command, Piece
from moonpad.explain.programs import starts_with_options
from moonpad.explain.prose_commands import is_prose
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_ECHO: Final = re.compile(
    r"^[ \t]*echo[ \t]+(?:-[en]+[ \t]+)?(?:\"(?P<double>(?:[^\"\\\n]|\\.)*)\"|'(?P<single>[^'\n]*)')"
    r"(?:[ \t]*(?:>&2|>>?[ \t]*/dev/stderr))?[ \t]*$",
    re.MULTILINE,
)
_START: Final = re.compile(
    rf"[ \t]*(?:[$>][ \t]+)?(?:[A-Z][A-Z0-9_]*=\S+[ \t]+)*(?:python3?[ ]|(?:[\w.~/-]*/)?)(?={SPEAKING.pattern})"
)
_ESCAPE: Final = re.compile(r"\\([\"\\$`])")
_MOST: Final = 40
_LINES: Final = 2_000


def printed_commands(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    for start, text in texts:
        lines = list(islice(_ECHO.finditer(text), _LINES))
        firsts = [at for at, line in enumerate(lines) if _START.match(_printed(line))]
        for at in firsts[:_MOST]:
            last = at
            while _printed(lines[last]).rstrip().endswith("\\") and _follows(lines, last, text):
                last += 1
            yield from _read(lines[at : last + 1], start, state)


def _printed(line: re.Match[str]) -> str:
    return _ESCAPE.sub(r"\1", line["double"]) if line["double"] is not None else line["single"]


def _follows(lines: list[re.Match[str]], at: int, text: str) -> bool:
    return at + 1 < len(lines) and not text[lines[at].end() : lines[at + 1].start()].strip()


def _read(lines: list[re.Match[str]], start: int, state: ScriptState) -> list[Command]:
    """The servers among them."""
    parts: list[str] = []
    pieces: list[Piece] = []
    length = 0

    def add(part: str, begin: int, end: int) -> None:
        nonlocal length
        if part:
            parts.append(part)
            pieces.append(Piece(length, length + len(part), begin, end))
            length += len(part)

    for line in lines:
        name = "double" if line["double"] is not None else "single"
        written, at = line[name], start + line.start(name)
        done = 0
        for escape in _ESCAPE.finditer(written) if name == "double" else ():
            add(written[done : escape.start()], at + done, at + escape.start())
            add(escape[1], at + escape.start(), at + escape.end())
            done = escape.end()
        add(written[done:], at + done, at + len(written))
        add("\n", at + len(written), at + len(written))
    state.budget.work(20 + length, "what it prints")
    before, problems = len(state.commands), len(state.problems.items)
    text = "".join(parts)
    begins = _START.match(text)
    skipped = re.match(r"[ \t]*(?:[$>][ \t]+)?", text) if begins else None
    code = (" " * skipped.end() + text[skipped.end() :]) if skipped else text
    Shell(state, Source(code, state.text, pieces)).read()
    made = [
        replace(command, arms=())
        for command in state.commands[before:]
        if starts_with_options(command) and not is_prose(command)
    ]
    del state.commands[before:], state.problems.items[problems:]
    return made
