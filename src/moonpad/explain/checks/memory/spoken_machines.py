"""Machines that a guide names for its model and that do not hold its weights, where no command says which it is for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from moonpad.catalog.clusters import parse_cluster
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.other_families import doubtful_name
from moonpad.explain.documents.device_mentions import machines_of
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.grouping import model_of
from moonpad.explain.results import Remark, make_remark
from moonpad.values.errors import UsageError
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB

_OF_OTHERS: Final = re.compile(
    r"gguf|offload|\bcpu\b|\bram\b|int4|\bq[2-8]|bit|quant|fp4|draft|distill|train|tun(?:e|ing)|cannot|can't|not "
    r"|too small|fail|oom|out of memory|insufficient|prefill|decode|nodes|replica|per node|/node|每|节点|不|无法|量化"
    r"|内存|instead",
    re.IGNORECASE,
)
"""What makes of a line one about fewer bytes, a part of the machines, or a failure."""
_DIGIT: Final = re.compile(r"\d")
_MOST: Final = 8


def spoken_machines(case: Case) -> Iterator[Remark]:
    """The smallest of them. Only in a text about one model, all of whose weights go to the devices."""
    checkpoint, reading, facts = case.checkpoint, case.first, case.engine.facts
    if checkpoint is None or not checkpoint.groups or case.cluster is not None or case.devices_asked:
        return
    helped = facts.host_experts or facts.gguf_only or reading.settings.cpu_offload_gib or reading.left_to_engine
    if helped or is_fragment(case.commands[0]) or doubtful_name(checkpoint, reading.model) or _several_models(case):
        return
    found: dict[str, int] = {}
    for at, line in _plain_lines(case.script.lines):
        case.script.budget.work(1, "the machines that it names")
        if not case.script.says_of(at, case.commands[0].line):
            continue
        for _, machine in machines_of(line, case.script.budget):
            if len(found) < _MOST and (held := _bytes(machine)) and held < checkpoint.total_bytes:
                found.setdefault(machine, at)
    if not found:
        return
    machine, at = next(iter(found.items()))
    message = (
        f"{case.script.where(at)} names {machine} with {_bytes(machine) / GIB:,.0f} GiB: the weights of "
        f"{checkpoint.name} are {checkpoint.total_bytes / GIB:,.0f} GiB"
    )
    yield make_remark(
        Severity.NOTE, Code.DOES_NOT_FIT, machine, message, "take more or larger devices for these weights"
    )


@lru_cache(maxsize=2)  # each engine command of a text asks
def _plain_lines(lines: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """Those with a number that speak of nothing else, with their own numbers."""
    return tuple(
        (at, line)
        for at, line in enumerate(lines, 1)
        if len(line) <= 300 and _DIGIT.search(line) and not _OF_OTHERS.search(line)
    )


def _several_models(case: Case) -> bool:
    models = {model_of(command) for command in case.script.commands if command.program != "other"} - {None}
    return len(models) > 1


def _bytes(machine: str) -> int:
    try:
        cluster = parse_cluster(machine)
    except UsageError:
        return 0
    return cluster.devices * cluster.device.usable_bytes if cluster.devices > 1 else 0
