"""What a script takes from outside on each machine (`NODE_RANK=${1:-0}`, `${LWS_WORKER_INDEX:-0}`) stays a variable in
what is shown, with the value that it has where nothing else is said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from moonpad.explain.commands import Command, Script, Word
from moonpad.explain.results import Judged, Line
from moonpad.values.records import replace

_RANKS: Final = ("--node-rank", "--data-parallel-start-rank", "--data-parallel-rank")
_VARIABLE: Final = re.compile(r"\$(?:\{(?P<braced>[A-Za-z_]\w*)(?::-[0-9]{1,4})?\}|(?P<bare>[A-Za-z_]\w*))")
_DEFAULTED: Final = re.compile(r"\$\{[A-Za-z_]\w*:?-(?:\$\{\w+:?-)*(?:[0-9]{1,4}|\$\{?\w+\}?)?\}+")
"""`${NODE_RANK:-${LWS_WORKER_INDEX:-0}}`: the first of several variables that is set."""
_OF_MACHINE: Final = re.compile(
    r"\$\{(?:NODE_?RANK|RANK|NODE_?(?:ID|INDEX)|MACHINE_RANK|GROUP_RANK|WORKER_(?:INDEX|ID)|SLURM_(?:PROCID|NODEID)"
    r"|LWS_WORKER_INDEX|JOB_COMPLETION_INDEX|OMPI_COMM_WORLD_RANK|PMI_RANK|PMIX_RANK)\b"
)
"""What tells a machine which of them it is."""
_SET: Final = (
    r"^[ \t]*(?:export[ \t]+|local[ \t]+|readonly[ \t]+|declare[ \t]+)?{}"
    r"=([\"']?)(?P<value>\$[^\s\"';&|]+)\1[ \t]*(?:#.*)?$"
)
_HEAD: Final = re.compile(
    r"(?:\$\{|^[ \t]*(?:export[ \t]+)?)(?P<name>(?:HEAD|MASTER|LEADER|NODE_?0|RANK_?0)(?:_NODE)?_"
    r"(?:ADDR(?:ESS)?|IP(?:_ADDR)?|HOST))"
    r"(?::?\?|=[\"']?(?:\d+\.|\$\{?\w+:[?-]))"
)
"""`: "${HEAD_ADDR:?set it}"`, `MASTER_IP=10.0.0.1`."""
_MASTER: Final = "--master-addr"
_MOST_ABOVE: Final = 2_000
"""Lines above a command in which its variables are looked for."""


class Kept(Struct, frozen=True):
    """Of an option, or of a variable in front of the command, its value and what is written in its place."""

    name: str
    value: str
    written: str
    unresolved: str


def rank_from_outside(command: Command, script: Script) -> str:
    """What gives one command the rank of its machine from outside, `${NODE_RANK:-0}`; "" where nothing does."""
    found = (each.written for each in _options(command, script) if each.name == _RANKS[0])
    return next((written for written in found if _DEFAULTED.fullmatch(written)), "")


def head_variable(script: Script) -> str:
    """The one variable in which a script has the address of its first machine; "" for none."""
    script.budget.once("addresses in variables", len(script.lines) // 2, "its lines")
    names = {match["name"] for line in script.lines if (match := _HEAD.search(line[:500])) is not None}
    return names.pop() if len(names) == 1 and not script.markdown else ""


def with_own_ranks(judged: Judged, commands: Iterable[Command], script: Script) -> Judged:
    """Where one command stands for all machines."""
    command, *others = commands
    if others or len(judged.corrected) > 1:
        return judged
    options, variables = (*_options(command, script), *_head(judged)), tuple(_variables(command, script))
    if not options and not variables:
        return judged
    unchanged = judged.corrected == judged.commands
    corrected = (
        judged.corrected if unchanged else tuple(with_kept(line, options, variables) for line in judged.corrected)
    )
    better = (
        replace(each, lines=tuple(with_kept(line, options, variables) for line in each.lines)) for each in judged.better
    )
    return replace(judged, corrected=corrected, better=tuple(better))


def _head(judged: Judged) -> Iterator[Kept]:
    """The variable that is added as the address of the first machine."""
    for words in (edit.words for remark in judged.remarks for edit in remark.edits):
        if len(words) > 1 and words[0] == _MASTER and words[1].startswith("$"):
            yield Kept(_MASTER, words[1], words[1], words[1].removeprefix("$"))


def _options(command: Command, script: Script) -> Iterator[Kept]:
    for flag, word in pairwise(command.argv):
        if flag.text in _RANKS and word.text.isdigit():
            yield from _of_option(flag.text, word.text, source_of(word, script), word.line, script)
    for word in command.argv:
        name, _, value = word.text.partition("=")
        if name in _RANKS and value.isdigit():
            yield from _of_option(name, value, source_of(word, script).partition("=")[2], word.line, script)


def _of_option(flag: str, value: str, source: str, line: int, script: Script) -> Iterator[Kept]:
    source = source.strip("'\"")
    match = _VARIABLE.fullmatch(source)
    name = (match["braced"] or match["bare"]) if match is not None else ""
    above = _assigned(name, line, script) if name and ":-" not in source else ""
    written = next((each for each in (above, source) if _DEFAULTED.fullmatch(each)), "")
    if written and _is_of_machine(written):
        yield Kept(flag, value, written, written)
    elif name:
        yield Kept(flag, value, source if ":-" in source else f"${{{name}:-{value}}}", name)


def _variables(command: Command, script: Script) -> Iterator[Kept]:
    """`export NODE_RANK="${NODE_RANK:-0}"`."""
    for name, word in command.env.items():
        source = source_of(word, script).partition("=")[2].strip("'\"")
        if _DEFAULTED.fullmatch(source) and _is_of_machine(source):
            yield Kept(name, word.text.removeprefix(f"{name}="), source, source)


def source_of(word: Word, script: Script) -> str:
    """The word as it is written, "" where it has more than one line."""
    if not 0 < word.line <= len(script.lines) or word.end_line != word.line:
        return ""
    return script.lines[word.line - 1][word.column : word.end_column].removeprefix("export ")


def _assigned(name: str, line: int, script: Script) -> str:
    """What the nearest line above sets the variable to, where that is a variable."""
    sets = re.compile(_SET.format(re.escape(name)))
    above = script.lines[max(0, line - 1 - _MOST_ABOVE) : max(0, line - 1)]
    script.budget.work(len(above) // 4, "the ranks of its machines")
    return next((match["value"] for text in reversed(above) if (match := sets.match(text[:200])) is not None), "")


def _is_of_machine(source: str) -> bool:
    return source.count("{") == source.count("}") and _OF_MACHINE.search(source) is not None


def with_kept(line: Line, options: Sequence[Kept], variables: Sequence[Kept]) -> Line:
    argv, names, env = list(line.argv), set(line.unresolved), dict(line.env)
    for each in options:
        for at, (option, word) in enumerate(pairwise(tuple(argv))):
            if (option, word) == (each.name, each.value):
                argv[at + 1] = each.written
                names.add(each.unresolved)
        for at, word in enumerate(argv):
            if word == f"{each.name}={each.value}":
                argv[at] = f"{each.name}={each.written}"
                names.add(each.unresolved)
    for each in variables:
        if env.get(each.name) == each.value:
            env[each.name] = each.written
            names.add(each.unresolved)
        for at, word in enumerate(argv):
            if word == f"{each.name}={each.value}":  # of a container
                argv[at] = f"{each.name}={each.written}"
                names.add(each.unresolved)
    return replace(line, argv=tuple(argv), env=env, unresolved=frozenset(names))
