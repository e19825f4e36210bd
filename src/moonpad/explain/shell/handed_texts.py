"""Commands in a text that a script puts into a variable, `CMD="$(cat <<EOF … )"`, for a service that starts them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from moonpad.explain.commands import Command, Piece
from moonpad.explain.programs import starts_with_options
from moonpad.explain.prose_commands import is_prose
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.source_text import Source
from moonpad.values.records import replace

_TEXT: Final = re.compile(
    r"^[ \t]*(?:export[ \t]+|local[ \t]+)?\w+=\"?\$\([ \t]*\n?[ \t]*cat[ \t]+<<-?[ \t]*([\"']?)(?P<end>\w+)\1[ \t]*\n"
    r"(?P<body>(?:(?![ \t]*(?P=end)[ \t]*$).*\n)*)",
    re.MULTILINE,
)
_BEFORE: Final = re.compile(r"^[ \t]*\$\{?\w+\}?(?:\\\n)?(?=[ \t]*(?:python|[a-z][\w.-]*[ \t]))", re.MULTILINE)
"""`${prelude}\\` in front of a program: what is done before it, or nothing."""
_SETS: Final = re.compile(r"^(?:export[ \t]+)?[A-Za-z_]\w*=(?:\"[^\"\n`]*\"|[^\s\"'`;|&()]*)[ \t]*\n", re.MULTILINE)
_MOST: Final = 20
_MOST_SET: Final = 200


def handed_texts(state: ScriptState, texts: list[tuple[int, str]]) -> Iterator[Command]:
    """The servers in them, with what the script set above."""
    for start, text in texts:
        for match in islice(_TEXT.finditer(text), _MOST):
            parts, pieces, length = [], [], 0
            for place in (*islice(_SETS.finditer(text, 0, match.start()), _MOST_SET), match):
                own = "body" if place is match else 0
                parts.append(_BEFORE.sub(lambda first: " " * len(first[0]), place[own]) if own else place[own])
                begin, end = place.span(own)
                pieces.append(Piece(length, length + len(parts[-1]), start + begin, start + end))
                length += len(parts[-1])
            state.budget.work(20 + length, "what it hands on")
            before, problems = len(state.commands), len(state.problems.items)
            Shell(state, Source("".join(parts), state.text, pieces)).read()
            read = state.commands[before:]
            del state.commands[before:], state.problems.items[problems:]
            yield from (
                replace(command, arms=()) for command in read if starts_with_options(command) and not is_prose(command)
            )
