"""Threads for the experts on the processor against the cores and the NUMA nodes that the text gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from moonpad.engines.host_expert_names import POOLS, THREADS
from moonpad.engines.value_checks import unresolved, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.named_processors import named_processors
from moonpad.explain.results import Edit, Remark, make_remark
from moonpad.values.finding import Code, Severity

_SOCKETS: Final = (
    re.compile(
        r"(?:Socket\(s\)|\bsockets?|物理[ ]?CPU[ ]?(?:数量|个数|数)?|(?:CPU|处理器)(?:数量|个数|颗数))"
        r"[ ]{0,4}[:：=][ ]{0,40}([1248])(?!\d)",
        re.IGNORECASE,
    ),
    re.compile(r"^\s{0,8}座\s{0,4}[:：]\s{0,40}(\d{1,2})"),
)
_PER_SOCKET: Final = re.compile(
    r"(?:Core\(s\) per socket|cores per (?:socket|CPU|processor)"
    r"|每(?:颗|个|路)?(?:物理)?(?:CPU|处理器|座|插槽)?(?:的)?(?:物理)?核心?数(?:量)?)"
    r"[ ]{0,4}[:：=][ ]{0,40}([0-9]{1,3})(?!\d)",
    re.IGNORECASE,
)
_BOTH: Final = (
    re.compile(
        r"(?<![\w.])(?P<sockets>[1248]|two|dual|两|双)[ ]?(?:颗|路|sockets?|CPUs?|processors?)(?![\w])[^|\n]{0,12}?"
        r"(?:每颗|每路|每个|各|of|with|each(?: with)?|,|，|x|×)[ ]?(?P<cores>[0-9]{1,3})[ ]?(?:物理)?(?:核|cores)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?<![\w.])(?P<sockets>[1248])[ ]?[x×*][ ]?[^|\n]{0,60}?\(?"
        r"(?P<cores>[0-9]{1,3})[ -](?:physical[ ])?cores?[ ]each",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<sockets>\d)\s?(?:颗|路|个)[，,、 ]{0,3}每(?:颗|路|个)\s?(?P<cores>\d{1,3})\s?(?:物理)?核"),
    re.compile(r"(?P<sockets>\d)\s?[x×][^,;|]{0,60}?\b(?P<cores>\d{1,3})\s?c(?:ores?)?[ /]{0,2}\d{2,3}\s?t\b", re.I),
    re.compile(
        r"(?P<sockets>\d)\s?sockets?,? ?(?:with |x |× ?|of )?(?P<cores>\d{1,3}) cores (?:each|per)", re.IGNORECASE
    ),
)
_CPUS: Final = re.compile(r"^[ \t#>]{0,8}CPU(?:\(s\)|s)?[ ]{0,4}[:：][ ]{1,40}(\d{1,4})\s*$")
_THREADS_OF_CORE: Final = re.compile(
    r"(?:Thread\(s\) per core|threads per core|每核(?:心)?线程数)[ ]{0,4}[:：][ ]{0,40}([124])(?!\d)", re.IGNORECASE
)
"""Both as lscpu prints them."""
_TOTAL: Final = re.compile(r"(?<![\w.])([0-9]{1,3})\s?(?:physical[ ]cores|物理核心?(?!数)|物理コア)", re.IGNORECASE)
_NUMA: Final = re.compile(
    r"(?<![\w.])(?P<nodes>[1-9][0-9]?)[ -]?NUMA(?:[ -]?nodes?)?\b(?![ ]?(?:[0-9#:]))"
    r"|NUMA[ ]?node(?:s|\(s\))[ ]?(?:count)?[ ]?[:：=][ ]*(?P<count>[1-9][0-9]?)(?!\d)"
)
_WORDS: Final = {"two": 2, "dual": 2, "两": 2, "双": 2}
_SIGNS: Final = ("核", "core", "Core", "颗", "Socket", "socket", "CPU", "コア", "座", "x", "×")


class _Cores(Struct, frozen=True):
    """Of a machine. `is_bound`: at most so many, since the text does not say how many processors it has."""

    cores: int
    most_threads: int
    told: str
    is_bound: bool = False


def processor_threads(case: Case) -> Iterator[Remark]:
    """More threads than the processors of the text have cores."""
    place = case.option(*THREADS)
    if place is None or not isinstance(place.value, str) or unresolved(place.value):
        return
    threads, found = whole(place.value) or 0, _cores(case)
    if found is None or threads <= found.most_threads:
        return
    message = f"{threads} threads, and {found.told}: threads above their number wait"
    message += " for each other, and the guide asks for a few less than the cores"
    fits = str(max(1, found.cores - 2))
    remedy = f"write {place.written} {fits}"
    edits = [Edit(place.index, place.length, (place.written, fits))]
    if found.is_bound:
        remedy, edits = f"write {place.written} with a few less than the cores that lscpu counts", []
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, place.written, message, remedy, at=place.index, edits=edits)


def pools_of_nodes(case: Case) -> Iterator[Remark]:
    """A pool of threads for each NUMA node of the text: with fewer, pools reach over several."""
    place = case.option(POOLS)
    pools = whole(place.value) if place is not None and isinstance(place.value, str) else None
    if place is None or pools is None:
        return
    case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    about_numa = (text for text in _own_lines(case) if "NUMA" in text)
    nodes = {int(match["nodes"] or match["count"]) for text in about_numa for match in _NUMA.finditer(text)}
    if len(nodes) != 1 or pools in nodes or 0 in nodes:
        return
    message = (
        f"{pools} pools of threads, and the text speaks of {max(nodes)} NUMA nodes: there is one pool for each node"
    )
    remedy = f"write {place.written} {max(nodes)}"
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, place.written, message, remedy, at=place.index)


def _own_lines(case: Case) -> Iterator[str]:
    """What the text says of the machine of the first command, each line up to its first 500 characters."""
    line = case.commands[0].line
    return (text[:500] for at, text in enumerate(case.script.lines, 1) if case.script.says_of(at, line))


def _cores(case: Case) -> _Cores | None:
    """Of the machine, where the text gives one number of them, or the name of its processors; and how it is told."""
    case.script.budget.work(5 * len(case.script.lines), "the processors of its text")
    own_lines = list(_own_lines(case))
    lines = [text for text in own_lines if any(sign in text for sign in _SIGNS)]
    totals = {int(match[1]) for text in lines for match in _TOTAL.finditer(text)}
    for match in (found for pattern in _BOTH for text in lines for found in pattern.finditer(text)):
        sockets = match["sockets"].casefold()
        totals.add((_WORDS.get(sockets) or int(sockets)) * int(match["cores"]))
    sockets_said = {int(match[1]) for pattern in _SOCKETS for text in lines for match in pattern.finditer(text)}
    cores_said = {int(match[1]) for text in lines for match in _PER_SOCKET.finditer(text)}
    if len(sockets_said) == len(cores_said) == 1:
        totals.add(min(sockets_said) * min(cores_said))
    logical = {int(found[1]) for text in lines if (found := _CPUS.match(text))}
    of_core = {int(found[1]) for text in own_lines if (found := _THREADS_OF_CORE.search(text))}
    if len(logical) == len(of_core) == 1:
        totals.add(min(logical) // min(of_core))
    if totals:
        cores = totals.pop() if len(totals) == 1 else 0
        return _Cores(cores, cores, f"the processors named here have {cores} cores") if cores else None
    return _of_names(own_lines, min(sockets_said) if len(sockets_said) == 1 else 0)


def _of_names(lines: Sequence[str], sockets: int) -> _Cores | None:
    """One thread more than the cores is passed: the guide's own examples are 33 and 65 on 32 and 64 cores."""
    named = named_processors(lines, sockets)
    if named is None:
        return None
    count = named.count or named.most
    cores, said = count * named.cores_of_one, f"the processor named here ({named.name}) has {named.cores_of_one} cores"
    if count > 1:
        said += f", {count} of them {cores}" if named.count else f", and as many as a machine takes, {count}, {cores}"
    return _Cores(cores, cores + 1, said, is_bound=named.count == 0 and count > 1)
