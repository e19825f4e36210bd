"""Threads for the experts on the processor against the cores and the NUMA nodes that the text gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.engines.host_expert_names import POOLS
from moonpad.engines.value_checks import whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.host_expert_checks import physical_cores
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity

_OLD_OPTION: Final = "--cpu_infer"
_SOCKETS: Final = re.compile(
    r"(?:Socket\(s\)|\bsockets?|物理[ ]?CPU[ ]?(?:数量|个数)?|(?:CPU|处理器)(?:数量|个数|颗数))"
    r"[ ]?[:：=][ ]*(?P<sockets>[1248])(?!\d)",
    re.IGNORECASE,
)
_PER_SOCKET: Final = re.compile(
    r"(?:Core\(s\) per socket|cores per (?:socket|CPU|processor)|每(?:颗|个|路)(?:CPU|处理器)?(?:的)?(?:物理)?核心?数)"
    r"[ ]?[:：=][ ]*(?P<cores>[0-9]{1,3})(?!\d)",
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
)
_TOTAL: Final = re.compile(r"(?<![\w.])(?P<total>[0-9]{1,3})[ ]?(?:physical[ ]cores|物理核心?|物理コア)", re.IGNORECASE)
_NUMA: Final = re.compile(
    r"(?<![\w.])(?P<nodes>[1-9][0-9]?)[ -]?NUMA(?:[ -]?nodes?)?\b(?![ ]?(?:[0-9#:]))"
    r"|NUMA[ ]?node(?:s|\(s\))[ ]?(?:count)?[ ]?[:：=][ ]*(?P<count>[1-9][0-9]?)(?!\d)"
)
_WORDS: Final = {"two": 2, "dual": 2, "两": 2, "双": 2}
_SIGNS: Final = ("核", "core", "Core", "颗", "Socket", "socket", "CPU", "コア")


def threads_of_cores(case: Case) -> Iterator[Remark]:
    """More threads than cores slow each other; the engine's guide asks for the physical cores, or a few less."""
    place = case.option(case.engine.facts.cores_option or _OLD_OPTION, _OLD_OPTION)
    if place is None or not isinstance(place.value, str):
        return
    threads, cores = whole(place.value), _cores(case)
    if threads is None or cores is None or threads <= cores or 0 < physical_cores(case.script) < threads:
        return  # said with the number that fits
    message = (
        f"{threads} threads on the {cores} physical cores that the text gives: those that share a core slow each other"
    )
    remedy = f"give fewer than {cores}: a few cores are left for the processes of the GPUs"
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, place.written, message, remedy, at=place.index)


def pools_of_nodes(case: Case) -> Iterator[Remark]:
    """A pool of threads for each NUMA node of the text: with fewer, pools reach over several."""
    place = case.option(POOLS)
    pools = whole(place.value) if place is not None and isinstance(place.value, str) else None
    if place is None or pools is None:
        return
    case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    line = case.commands[0].line
    told = [
        text[:500] for at, text in enumerate(case.script.lines, 1) if "NUMA" in text and case.script.says_of(at, line)
    ]
    nodes = {int(match["nodes"] or match["count"]) for text in told for match in _NUMA.finditer(text)}
    if len(nodes) != 1 or pools in nodes or 0 in nodes:
        return
    message = (
        f"{pools} pools of threads, and the text speaks of {max(nodes)} NUMA nodes: there is one pool for each node"
    )
    remedy = f"write {place.written} {max(nodes)}"
    yield make_remark(Severity.WARNING, Code.SUBOPTIMAL, place.written, message, remedy, at=place.index)


def _cores(case: Case) -> int | None:
    """Of the machine, where the text gives one number of them."""
    case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    line = case.commands[0].line
    lines = [
        text[:500]
        for at, text in enumerate(case.script.lines, 1)
        if case.script.says_of(at, line) and any(sign in text for sign in _SIGNS)
    ]
    totals = {int(match["total"]) for text in lines for match in _TOTAL.finditer(text)}
    for pattern in _BOTH:
        for match in (found for text in lines for found in pattern.finditer(text)):
            sockets = match["sockets"].casefold()
            totals.add(_WORDS.get(sockets, 0) * int(match["cores"]) or int(sockets) * int(match["cores"]))
    sockets_said = {int(match["sockets"]) for text in lines for match in _SOCKETS.finditer(text)}
    cores_said = {int(match["cores"]) for text in lines for match in _PER_SOCKET.finditer(text)}
    if len(sockets_said) == len(cores_said) == 1:
        totals.add(sockets_said.pop() * cores_said.pop())
    return totals.pop() if len(totals) == 1 and 0 not in totals else None
