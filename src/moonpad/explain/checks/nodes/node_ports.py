"""What the commands of several machines say of themselves and of the place where they meet, against each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.engines import foreign_names as names
from moonpad.engines.base import Reading
from moonpad.engines.surrounding_names import OWN_ADDRESSES
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.change_edits import with_value
from moonpad.explain.checks.check_case import Case
from moonpad.explain.commands import Command
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import ADDRESS, value_of
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.records import replace

_PORTS: Final = (("--master-port",), ("--data-parallel-rpc-port", "-dpp"))
"""Where all machines of one engine meet."""
_IP: Final = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")
_HEADS: Final = ("--data-parallel-address", "-dpa", "--master-addr")
_warned = Severity.WARNING


def met_elsewhere(case: Case) -> Iterator[Remark]:
    """`--data-parallel-rpc-port 13346` where the first machine has 13345; the address of another machine than the
    first."""
    if not _is_group(case.commands):
        return
    for flags in _PORTS:
        given = [value_of(command.argv, flags) for command in case.commands]
        known = [(at, word.text) for at, word in enumerate(given) if word is not None and not unresolved(word.text)]
        for at, port in known[1:]:
            if port != known[0][1] and whole(port) and whole(known[0][1]):
                message = f"this machine waits at port {port}, the first at {known[0][1]}: they do not find each other"
                remark = make_remark(_warned, Code.CONFLICT, flags[0], message, f"write {known[0][1]} on every machine")
                edits = with_value(case.commands[at].argv, flags, known[0][1])
                yield replace(remark, command=at, edits=edits)
                break
    yield from _head_elsewhere(case.commands)


def _head_elsewhere(commands: Sequence[Command]) -> Iterator[Remark]:
    own = [_own(command) for command in commands]
    word = value_of(commands[0].argv, _HEADS)
    if word is None or own[0] is None or not _IP.fullmatch(word.text) or word.text == own[0][1]:
        return
    if any(each is not None and each[1] == word.text for each in own[1:]):
        flag = "--master-addr" if value_of(commands[0].argv, ("--master-addr",)) is not None else _HEADS[0]
        message = f"{word.text} is the address of another machine by its {own[0][0]}, and the first one, which listens "
        message += f"there, has {own[0][1]}: it cannot bind it"
        yield make_remark(_warned, Code.CONFLICT, flag, message, f"write {own[0][1]} on every machine")


def _own(command: Command) -> tuple[str, str] | None:
    for name in OWN_ADDRESSES:
        word = command.env.get(name)
        value = word.text.removeprefix(f"{name}=").strip("'\"") if word is not None else ""
        if _IP.fullmatch(value):
            return name, value
    return None


def one_own_address(case: Case) -> Iterator[Remark]:
    """`HCCL_IF_IP=10.0.0.1` on two machines."""
    if not _is_group(case.commands):
        return
    for name in OWN_ADDRESSES:
        seen: dict[str, Command] = {}
        for at, command in enumerate(case.commands):
            word = command.env.get(name)
            value = word.text.removeprefix(f"{name}=").strip("'\"") if word is not None else ""
            if word is None or word.unresolved or not _IP.fullmatch(value):
                continue
            if value in seen and word.line != seen[value].env[name].line:
                message = (
                    f"{value} here and on the machine of {case.script.where(seen[value].line)}: it is the address "
                )
                message += "of the machine itself, and no two have the same"
                remark = make_remark(_warned, Code.CONFLICT, name, message, "write the address of this machine")
                yield replace(remark, command=at, variable=name)
                return
            seen[value] = command


def ranks_twice(case: Case) -> Iterator[Remark]:
    """Data-parallel ranks that two machines start, and a rank of a machine beyond their number on a later one."""
    if case.base != names.EXPERTS_BY_VARIABLE or case.unknown & {"dp"} or not _is_group(case.commands):
        return
    for at, reading in enumerate(case.readings[1:], 1):
        rank, machines = _number(reading, "--node-rank"), _number(reading, "--nnodes")
        if rank is not None and machines and rank >= machines:
            message = f"node {rank} of {machines}, which are 0 to {machines - 1}: the start ends"
            place = reading.parsed.occurrence("--node-rank")
            remark = make_remark(
                Severity.ERROR,
                Code.INVALID_VALUE,
                "--node-rank",
                message,
                f"write {machines - 1} or less, another on each machine",
                at=place.index if place is not None else None,
            )
            yield replace(remark, command=at)
            return
    yield from _shared(case)


def _shared(case: Case) -> Iterator[Remark]:
    spans: list[range] = []
    for at, reading in enumerate(case.readings):
        size, local = _number(reading, names.RANKS), _number(reading, names.RANKS_HERE)
        start = reading.parsed.occurrence(names.FIRST_RANK)
        first = _number(reading, names.FIRST_RANK) if start is not None else 0
        joined = any(reading.parsed.occurrence(flag) is not None for flag in (names.OWN_RANK, "--nnodes"))
        if not size or not local or first is None or joined or local >= size:
            return
        span = range(first, first + local)
        other = next((each for each in spans if span.start < each.stop and each.start < span.stop), None)
        if other is not None:
            message = f"ranks {span.start} to {span.stop - 1} here, and {other.start} to {other.stop - 1} on another "
            message += "machine: each rank is started once, and the start ends or waits for the others"
            words = names.FIRST_RANK, str(sum(len(each) for each in spans))
            place = (start.index, start.length) if start else (len(case.commands[at].argv), 0)
            remark = make_remark(
                _warned,
                Code.ILLEGAL_LAYOUT,
                names.FIRST_RANK,
                message,
                f"write {' '.join(words)}",
                at=start.index if start else None,
                edits=[Edit(*place, words)],
            )
            yield replace(remark, command=at)
            return
        spans.append(span)


def _is_group(commands: Sequence[Command]) -> bool:
    """Several machines of one engine, whose options all stand in the text."""
    if len(commands) < 2 or is_fragment(commands[0]) or any(command.more for command in commands):
        return False
    places = {(command.line, tuple(command.arms)) for command in commands}
    return len(places) == len(commands) and any(value_of(each.argv, ADDRESS) is not None for each in commands)


def _number(reading: Reading, flag: str) -> int | None:
    place = reading.parsed.occurrence(flag)
    text = place.value if place is not None and isinstance(place.value, str) else ""
    return None if not text or unresolved(text) else whole(text)


def more_than_machine(case: Case) -> Iterator[Remark]:
    """Ranks that one command starts on one machine, which has fewer devices."""
    if case.base != names.EXPERTS_BY_VARIABLE or case.cluster is None or not case.laid_out or case.commands[0].more:
        return
    for at, (reading, command) in enumerate(zip(case.readings, case.commands, strict=True)):
        local, each = _number(reading, names.RANKS_HERE), reading.layout.tp * reading.layout.pp
        away = any(reading.parsed.occurrence(flag) is not None for flag in ("--nnodes", "--data-parallel-backend"))
        here = case.cluster.per_node
        if not local or away or command.custom or local * each <= here or reading.settings.executor == "ray":
            continue
        message = f"{local} data-parallel ranks of {each} devices are {local * each} on this machine, which has {here}"
        remedy = f"write {names.RANKS_HERE} {here // each}" if each <= here else "make tensor parallelism smaller"
        place = reading.parsed.occurrence(names.RANKS_HERE)
        remark = make_remark(
            _warned, Code.ILLEGAL_LAYOUT, names.RANKS_HERE, message, remedy, at=place.index if place else None
        )
        yield replace(remark, command=at)
        return
