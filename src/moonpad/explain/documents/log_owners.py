"""Which deployment of a text an error in it is of."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Final

from moonpad.engines import ENGINES
from moonpad.explain.commands import ErrorLine, Script
from moonpad.explain.documents.errors_of_others import is_of_another, who_else_had
from moonpad.explain.documents.logs_of_layouts import of_its_layout
from moonpad.explain.grouping import Group, model_of
from moonpad.explain.programs import is_server, program_named, program_table
from moonpad.values.records import replace

_MOST_TAKEN: Final = 1_000
"""Lines of one word."""
_LONGEST: Final = 2_000
_FARTHEST: Final = 12
"""Lines between two commands of which either is meant."""
_EITHER: Final = re.compile(r"[#*_ \t]{0,6}(?:or|and/or|alternatively|或|或者)[*_:,.… \t]{0,6}", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"[ \t]*(?:[`~]{3,}[\w+-]*)?[ \t]*")
_MOST_ABOVE: Final = 4
"""Servers above a log that its words may name."""
_UP_TO_NUMBER: Final = re.compile(r"[a-z][a-z_-]*[-_]?[a-z]?\d+(?:\.\d+)?")
_SHORTEST: Final = 5
_CHECKPOINT: Final = re.compile(r"(?:[\w.-]{1,80}/){1,9}[\w.-]{4,120}")


def owners_of(groups: Sequence[Group], script: Script) -> list[list[ErrorLine]]:
    """Of each group the lines that are its own: those behind its command and in front of the next server's, of the
    first one also those above. Of commands with a mere `or` between them, what stands behind the last is of all, but
    where it names the checkpoint of one."""
    owned: list[list[ErrorLine]] = [[] for _ in groups]
    owners = [number for number, group in enumerate(groups) if writer_of(group) is not None]
    owners = [number for number in owners if is_server(groups[number].commands[0].program)] or owners
    servers = sorted((_line(groups[number]), number) for number in owners)
    if not servers or not script.error_lines:
        return owned
    words = [word for group in groups for command in group.commands for word in command.words]
    script.budget.work(len(words) + len(script.error_lines), "its error lines")
    taken = {line for word in words for line in range(word.line, min(word.end_line, word.line + _MOST_TAKEN) + 1)}
    choices = _choices(servers, groups, script)
    for error in script.error_lines:
        at = max(bisect_right(servers, (error.number, len(groups))) - 1, 0)
        if error.logged or error.number not in taken:
            above = error.number < servers[at][0]
            numbers = [servers[at][1]] if above else choices.get(at, [servers[at][1]])
            if error.logged and len(numbers) > 1:
                numbers = of_its_layout(numbers, groups, script, error.number)
            for number in numbers:
                if is_of_another(error, groups[number].commands, script):
                    continue
                error = replace(error, by=who_else_had(error, groups[number].commands, script))
                owned[number].append(replace(error, either=len(numbers) > 1) if error.logged else error)
            for line, number in servers if error.told else ():
                if number != servers[at][1] and _of_one_object(line, servers[at][0], script):
                    owned[number].append(error)
    return owned


def writer_of(group: Group) -> str | None:
    """The engine whose log it writes; None for what neither serves nor stands in front of servers."""
    program = program_named(group.commands[0].program)
    if program is None or program.kind == "client":
        return None
    owner = program_table().engines[program.name]
    build = ENGINES[owner].command_line.build
    return build.of if build else owner


def _choices(
    servers: Sequence[tuple[int, int]], groups: Sequence[Group], script: Script
) -> Mapping[int, Sequence[int]]:
    """By the place of a server among them, the groups of which a line behind it may be."""
    choices: dict[int, list[int]] = {}
    first = 0
    for at in range(1, len(servers) + 1):
        if at < len(servers) and _is_either(groups[servers[at - 1][1]], groups[servers[at][1]], script):
            continue
        end = servers[at][0] - 1 if at < len(servers) else len(script.lines)
        if at - first > 1:
            choices[at - 1] = _named([number for _, number in servers[first:at]], groups, script, end)
        elif at > 1:
            above = [number for _, number in servers[max(0, at - _MOST_ABOVE) : at]]
            if shown := _shown([each for each in above if _is_alike(each, above[-1], groups)], groups, script, end):
                choices[at - 1] = shown
        first = at
    return choices


def _is_either(group: Group, below: Group, script: Script) -> bool:
    """Whether nothing but an `or` stands between two commands of one engine."""
    between = script.lines[_end(group) : _line(below) - 1]
    if not 0 < len(between) <= _FARTHEST or writer_of(group) != writer_of(below):
        return False
    said = [line[:_LONGEST] for line in between if not _BETWEEN.fullmatch(line[:_LONGEST])]
    return len(said) == 1 and _EITHER.fullmatch(said[0]) is not None


def _named(numbers: Sequence[int], groups: Sequence[Group], script: Script, end: int) -> list[int]:
    """Those whose checkpoint stands in the lines behind the last of them; all where none does."""
    behind = script.lines[_end(groups[numbers[-1]]) : end]
    script.budget.work(len(numbers) * (len(behind) + len(numbers)) // 4, "its error lines")
    own = {number: _checkpoints(groups[number]) for number in numbers}
    named = [
        number
        for number in numbers
        if any(
            name in line[:_LONGEST]
            for name in own[number].difference(*(own[other] for other in numbers if other != number))
            for line in behind
        )
    ]
    return named or _of_family(numbers, groups, behind) or list(numbers)


def _is_alike(number: int, last: int, groups: Sequence[Group]) -> bool:
    return writer_of(groups[number]) == writer_of(groups[last])


def _shown(numbers: Sequence[int], groups: Sequence[Group], script: Script, end: int) -> list[int]:
    """Of servers that follow each other, the one whose model alone the log behind the last of them names."""
    first = _end(groups[numbers[-1]])
    logged = [error.number for error in script.error_lines if error.logged and first < error.number <= end]
    if not logged:
        return []
    return _of_family(numbers, groups, script.lines[logged[0] - 1 : logged[-1]])


def _of_family(numbers: Sequence[int], groups: Sequence[Group], behind: Sequence[str]) -> list[int]:
    """The one whose model's line alone is named by a word of the log, `minimax_m3.py` or `DeepseekV4ForCausalLM`."""
    families = {number: _family(groups[number]) for number in numbers}
    if any(one != two and one in two for one in families.values() for two in families.values()):
        return []
    words = [re.sub(r"[-_. ]", "", line[:_LONGEST]).casefold() for line in behind]
    named = [number for number in numbers if families[number] and any(families[number] in line for line in words)]
    return named if len({families[number] for number in named}) == 1 else []


def _family(group: Group) -> str:
    """`minimaxm3` of `MiniMaxAI/MiniMax-M3-MXFP8`: its name up to the first number; "" where it has none."""
    name = (model_of(group.commands[0]) or "").rstrip("/").rpartition("/")[2].casefold()
    match = _UP_TO_NUMBER.match(name)
    return re.sub(r"[-_. ]", "", match[0]) if match is not None and len(match[0]) >= _SHORTEST else ""


def _checkpoints(group: Group) -> frozenset[str]:
    words = (word.text for command in group.commands for word in command.argv)
    return frozenset(text for text in words if _CHECKPOINT.fullmatch(text))


def _of_one_object(line: int, other: int, script: Script) -> bool:
    """Whether both start in one object of YAML, as the pools of a deployment: what its author tells is of all."""
    return any(first <= line <= last and first <= other <= last for first, last in script.objects)


def _line(group: Group) -> int:
    return min(command.line for command in group.commands)


def _end(group: Group) -> int:
    return max((word.end_line for command in group.commands for word in command.words), default=_line(group))
