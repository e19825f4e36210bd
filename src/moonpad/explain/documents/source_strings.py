"""Commands in the strings of programs in other languages: TypeScript, Go, Rust, Java."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from moonpad.engines.foreign_names import SPEAKING
from moonpad.explain.commands import Piece, Word
from moonpad.explain.programs import is_server
from moonpad.explain.shell.interpreter import ScriptState, Shell
from moonpad.explain.source_text import Source

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
_MOST: Final = 100
_LONGEST: Final = 20_000


def is_source(text: str) -> bool:
    """Whether it is a program in such a language."""
    return not text.lstrip("\0\n\t ").startswith("#!") and "```" not in text and len(_CODE.findall(text[:50_000])) > 0


def read_strings(text: str, start: int, state: ScriptState) -> bool:
    """Adds the servers that its strings start. False where there are none."""
    before = len(state.commands)
    state.budget.work(len(text) // 4, "its strings")
    for word in islice(_literals(text, start, state), _MOST):
        first, problems = len(state.commands), len(state.problems.items)
        Shell(state, Source.inside(word, state.text)).read()
        state.commands[first:] = [command for command in state.commands[first:] if is_server(command.program)]
        if len(state.commands) == first:
            del state.problems.items[problems:]
    return len(state.commands) > before


def _literals(text: str, start: int, state: ScriptState) -> Iterator[Word]:
    """Those that begin with an engine's command."""
    for match in _LITERAL.finditer(text):
        group = next((number for number in (1, 2, 3) if match[number] is not None), 1)
        written = match[group]
        if len(written) > _LONGEST or not _STARTS.match(written):
            continue
        begin, end = start + match.start(group), start + match.end(group)
        plain = re.sub(r"\\(.)", lambda escaped: {"n": "\n", "t": "\t"}.get(escaped[1], escaped[1]), written)
        kept = written if group == 3 and "\\\n" in written else plain
        yield Word(kept, pieces=(Piece(0, len(kept), begin, end),))
