"""Two nodes of one deployment that both call themselves by the same rank."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command, Script
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import ADDRESS, model_of, value_of
from moonpad.explain.results import Remark, make_remark, shortened
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_TITLE: Final = re.compile(
    r"(?<![\w$])(?:node|machine|host|节点|机器)[ \t_-]{0,2}#?(?P<number>\d{1,3})(?![\w.:])", re.IGNORECASE
)
"""Not of servers or workers: texts number those of which each answers by itself."""
_NO_TITLE: Final = re.compile(r"[=$]|\\$|^[ \t]*(?:export|ssh|scp|docker|kubectl)\b")
_LONGEST: Final = 80
_LONGEST_LINE: Final = 2_000
_FARTHEST: Final = 120
"""Lines above a command in which its title is looked for."""
_NODE_RANK: Final = "--node-rank"
_NODES: Final = "--nnodes"
_RANKS: Final = ((_NODE_RANK, _NODES), (names.FIRST_RANK, names.RANKS), (names.OWN_RANK, names.RANKS))
_RANK_0: Final = re.compile(r"rank[\"'`\]]{0,2}[ \t]{0,3}[=:]?[ \t]{0,3}[\"'`]?(?:0(?![\d.])|[$<{])", re.IGNORECASE)
"""Of a line that starts rank 0, speaks of it, or leaves open which rank it starts."""
_ROLES: Final = re.compile(r"kv_producer|kv_consumer|\bprefill\b|\bdecode\b")
_NEAREST: Final = 4


def rank_of_another(case: Case) -> Iterator[Remark]:
    """`--node-rank 0` under «Node 0» and again under «Node 1»: the titles tell that these are two machines."""
    script = case.script
    for number, command in enumerate(case.commands):
        if is_fragment(command) or command.program == "other":
            continue
        for flag, size in _RANKS:
            at = next((at for at, word in enumerate(command.argv) if word.text.partition("=")[0] == flag), None)
            own, machines = value_of(command.argv, (flag,)), _machines(command, size)
            if own is None or machines < 2 or unresolved(own.text):
                continue
            other = _of_another_node(command, flag, own.text, machines, script)
            if other is None:
                continue
            message = f"{own.text} here and in {script.where(other.line)}, on another machine by the titles above them"
            message += ": each rank is one machine's, and the ranks never all meet"
            remedy = f"give each machine its own {flag}, from 0 on"
            code = Code.CONFLICT
            yield replace(make_remark(Severity.WARNING, code, flag, message, remedy, at=at), command=number)


def no_first_rank(case: Case) -> Iterator[Remark]:
    """Two commands that meet at one address as the same rank, `--node-rank 1`, where no line has rank 0: one was copied
    from the other, and all wait for the first machine."""
    script, own = case.script, case.commands[0]
    address, rank = value_of(own.argv, ADDRESS), value_of(own.argv, (_NODE_RANK,))
    if address is None or rank is None or unresolved(address.text) or not whole(rank.text) or is_fragment(own):
        return
    if _machines(own, _NODES) < 2 or any(_RANK_0.search(line[:_LONGEST_LINE]) for line in script.lines):
        return
    script.budget.work(len(script.lines) + len(script.commands), "its engine commands")
    ranks = [(each, value_of(each.argv, (_NODE_RANK,))) for each in script.commands if _meets_at(each, address.text)]
    twins = [each for each, its in ranks if its is not None and its.text == rank.text and _is_same(own, each)]
    if len(twins) < 2 or twins[0].line != own.line or any(its is None or unresolved(its.text) for _, its in ranks):
        return
    at = next(at for at, word in enumerate(own.argv) if word.text.partition("=")[0] == _NODE_RANK)
    message = f"{rank.text} here and in {script.where(twins[1].line)}, which meet at {shortened(address.text, 40)}, "
    message += "and no command has rank 0: all wait for it"
    remedy = f"write {_NODE_RANK} 0 on the machine that has this address"
    yield make_remark(Severity.WARNING, Code.CONFLICT, _NODE_RANK, message, remedy, at=at)


def _meets_at(command: Command, address: str) -> bool:
    its = value_of(command.argv, ADDRESS)
    return its is not None and its.text == address


def _machines(command: Command, size: str) -> int:
    """How many machines one engine is on, at the least; of data-parallel ranks, those that start the same number."""
    count = _number(command, size)
    if size != names.RANKS:
        return count
    own_rank = value_of(command.argv, (names.OWN_RANK,)) is not None
    return count if own_rank else count // max(1, _number(command, names.RANKS_HERE) or count)


def _number(command: Command, flag: str) -> int:
    word = value_of(command.argv, (flag,))
    return (whole(word.text) or 0) if word is not None else 0


def _of_another_node(command: Command, flag: str, rank: str, machines: int, script: Script) -> Command | None:
    """The nearest command above that is the same but for its title, unless one with another rank stands between."""
    title = _title(command, script)
    above = [each for each in script.commands if each.program == command.program and each.line < command.line]
    if title is None or not above:
        return None
    for other in reversed(above[-_NEAREST:]):
        its, its_title = value_of(other.argv, (flag,)), _title(other, script)
        if its is None or its.text != rank or not _is_same(command, other):
            return None
        if flag != _RANKS[0][0] and _meets_elsewhere(command, other):
            return None
        if its_title is not None and its_title[0] == title[0] and 0 < abs(its_title[1] - title[1]) < machines:
            return other
    return None


def _is_same(command: Command, other: Command) -> bool:
    """Whether both serve the same model in the same role."""
    roles = [{role for word in each.argv for role in _ROLES.findall(word.text)} for each in (command, other)]
    return model_of(command) == model_of(other) and command.role == other.role and roles[0] == roles[1]


def _meets_elsewhere(command: Command, other: Command) -> bool:
    """Whether the data-parallel ranks of the two wait in different places: these are two engines."""
    here, there = (value_of(each.argv, ADDRESS) for each in (command, other))
    return here is None or there is None or here.text != there.text


def _title(command: Command, script: Script) -> tuple[str, int] | None:
    """The nearest line above the command that names one node and little more: without the number, and the number."""
    before = [word.end_line for each in script.commands if each.line < command.line for word in each.words[-1:]]
    top = max([line for line in before if line < command.line] + [command.line - _FARTHEST, 0])
    script.budget.work(command.line - top + len(script.commands), "its engine commands")
    for line in range(command.line - 1, top, -1):
        text = script.lines[line - 1].strip()
        found = _TITLE.findall(text) if len(text) <= _LONGEST else []
        if len(found) == 1 and not _NO_TITLE.search(text):
            words = re.sub(r"\W+", " ", _TITLE.sub(" node ", re.sub(r"^\W*\d+[.)]", "", text))).casefold().strip()
            return words, int(found[0])
    return None
