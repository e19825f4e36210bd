"""The rank of a machine that a script takes from outside (`NODE_RANK=${1:-0}`) stays a variable in what is shown, with
the rank that it has where nothing else is said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from moonpad.explain.commands import Command, Script
from moonpad.explain.results import Judged, Line
from moonpad.values.records import replace

_RANKS: Final = ("--node-rank", "--data-parallel-start-rank", "--data-parallel-rank")
_VARIABLE: Final = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)(?::-[0-9]{1,4})?\}|(?P<bare>[A-Za-z_]\w*))")


def with_own_ranks(judged: Judged, commands: Iterable[Command], script: Script) -> Judged:
    """Where one command stands for all machines."""
    written = tuple(_written(commands, script))
    if not written or len(judged.corrected) > 1:
        return judged
    unchanged = judged.corrected == judged.commands
    corrected = judged.corrected if unchanged else tuple(_kept(line, written) for line in judged.corrected)
    better = (replace(each, lines=tuple(_kept(line, written) for line in each.lines)) for each in judged.better)
    return replace(judged, corrected=corrected, better=tuple(better))


def _written(commands: Iterable[Command], script: Script) -> Iterator[tuple[str, str, str, str]]:
    """Option, value, what is written in its place, and the variable."""
    command, *others = commands
    for flag, word in pairwise(command.argv):
        if others or flag.text not in _RANKS or not word.text.isdigit() or not 0 < word.line <= len(script.lines):
            continue
        source = script.lines[word.line - 1][word.column : word.end_column].strip("'\"")
        if match := _VARIABLE.fullmatch(source):
            yield flag.text, word.text, source, match["braced"] or match["bare"]


def _kept(line: Line, written: tuple[tuple[str, str, str, str], ...]) -> Line:
    argv, names = list(line.argv), set(line.unresolved)
    for flag, value, source, name in written:
        for at, (option, word) in enumerate(pairwise(tuple(argv))):
            if (option, word) == (flag, value):
                argv[at + 1] = source if ":-" in source else f"${{{name}:-{value}}}"
                names.add(name)
    return replace(line, argv=tuple(argv), unresolved=frozenset(names))
