"""Ranks beyond their number: of machines, and of data parallelism, in the engine's own options and in those of a
program that starts a script once a rank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.base import Reading
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.nodes.data_parallel import LARGEST_MACHINE
from moonpad.explain.commands import Command, Word
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.programs import base_name
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_MOST: Final = 8
_NODE_RANK: Final = "--node-rank"
_wrong = partial(make_remark, Severity.ERROR, Code.ILLEGAL_LAYOUT)


def ranks_beyond(case: Case) -> Iterator[Remark]:
    """The engine counts its ranks from 0, and refuses one that is not below their number."""
    if case.base != names.EXPERTS_BY_VARIABLE or case.unknown & {"dp"}:
        return
    for number, reading in enumerate(case.readings):
        size = _of(reading, names.RANKS)
        if size is None:
            continue
        for flag in (names.FIRST_RANK, names.OWN_RANK):
            first, place = _of(reading, flag), reading.parsed.occurrence(flag)
            local = (_of(reading, names.RANKS_HERE) or 1) if flag == names.FIRST_RANK else 1
            if first is None or place is None or first + local <= size:
                continue
            message = f"{_ranks(first, local)} of {size}, which are 0 to {size - 1}"
            remedy = f"make it {size - local} or less, or {names.RANKS} {first + local}"
            remedy = remedy if local <= size else f"start {size} ranks at most"
            yield replace(_wrong(flag, message, remedy, at=place.index), command=number)


def nodes_beyond(case: Case) -> Iterator[Remark]:
    """`--nnodes 2 --node-rank 2`: machines counted from 1. Those that join a group that grows count on."""
    for number, reading in enumerate(case.readings):
        nodes, rank, place = reading.node.nodes, reading.node.node_rank, reading.parsed.occurrence(_NODE_RANK)
        if nodes is None or rank is None or place is None or rank < nodes or is_fragment(case.commands[number]):
            continue
        if any("elastic" in (each.flag or "") for each in reading.parsed.occurrences) or nodes < 2:
            continue
        message = f"{rank} of {nodes} machines, which are 0 to {nodes - 1}: their ranks never all meet"
        remedy = f"count the machines from 0: 0 to {nodes - 1}"
        yield replace(_wrong(_NODE_RANK, message, remedy, at=place.index), command=number)


def _ranks(first: int, count: int) -> str:
    return f"rank {first}" if count < 2 else f"ranks {first} to {first + count - 1}"


def _of(reading: Reading, flag: str) -> int | None:
    place = reading.parsed.occurrence(flag)
    text = place.value if place is not None and isinstance(place.value, str) else ""
    return None if not text or unresolved(text) else whole(text)


def launched_ranks(case: Case) -> Iterator[Remark]:
    """The same, where a program starts the ranks of one machine; and more devices than a machine has."""
    script = case.script
    if not is_first(case.commands, script):
        return
    seen = 0
    groups: dict[tuple[int | None, ...], list[tuple[str, range]]] = {}
    for command in script.commands:
        given = launched(command)
        size, local = given.get(names.LAUNCHED), given.get(names.LAUNCHED_HERE)
        if size is None or seen >= _MOST:
            continue
        group = size, given.get(names.LAUNCHED_DEVICES), given.get(names.LAUNCHED_PORT)
        from_here = range(given.get(names.LAUNCHED_FIRST, 0), given.get(names.LAUNCHED_FIRST, 0) + (local or 0))
        groups.setdefault(group, []).append((script.where(command.line), from_here))
        first, each = given.get(names.LAUNCHED_FIRST, 0), given.get(names.LAUNCHED_DEVICES, 1)
        here = local if local is not None and local >= 0 else size
        where = script.where(command.line)
        if first + here > size:
            seen += 1
            flag = names.LAUNCHED_FIRST if first >= size or local is None else names.LAUNCHED_HERE
            message = f"{where}: {_ranks(first, here)} of {size}, which are 0 to {size - 1}"
            remedy = f"start the ranks of all machines within {names.LAUNCHED} {size}, or raise it on each of them"
            yield replace(_wrong(flag, message, remedy), command=None)
        if here * each > LARGEST_MACHINE:
            seen += 1
            message = f"{where}: {here} ranks of {each} devices are {here * each} on one machine, and none has so many"
            remedy = f"start {LARGEST_MACHINE // each} ranks here, and the others on the next machine"
            warning = make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, names.LAUNCHED_HERE, message, remedy)
            yield replace(warning, command=None)

    for (ranks, *_), starts in groups.items():
        started = {rank for _, each in starts for rank in each}
        if len({each.start for _, each in starts}) < 2 or not started or ranks is None or len(started) >= ranks:
            continue
        places = ", ".join(where for where, _ in starts[:_MOST])
        message = f"{places}: together they start {len(started)} of {ranks} ranks: the others are waited for"
        remedy = f"start all of them with {names.LAUNCHED_HERE}, or write {names.LAUNCHED} {len(started)}"
        yield replace(
            make_remark(Severity.WARNING, Code.ILLEGAL_LAYOUT, names.LAUNCHED_HERE, message, remedy), command=None
        )


def launched(command: Command) -> Mapping[str, int]:
    """Numbers behind the options of such a program; none where the command starts another."""
    words = [word.text for word in (*command.prefix, *command.argv)]
    if not any(base_name(Word(word)) in names.LAUNCHERS for word in words[:4]):
        return {}
    parts = ((word.partition("=")[0], word.partition("=")[2]) for word in words if word.startswith("--"))
    given = {**dict(pairwise(words)), **{option: value for option, value in parts if value}}
    numbers = ((option, whole(value)) for option, value in given.items() if option.startswith("--"))
    return {option: number for option, number in numbers if number is not None}
