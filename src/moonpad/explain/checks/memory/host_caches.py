"""Copies of the KV cache in host memory that each rank takes for itself, against what the text says of that memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from moonpad.engines.surrounding_names import HOST_CACHES, KEYS_OF_HOST_CACHES, TRANSFER
from moonpad.engines.value_checks import as_json, whole
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.expert_memory import spoken_ram
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.explain.shell.own_lines import is_first
from moonpad.explain.started_ranks import ranks_of
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB

_LEFT: Final = 0.15
"""Of the memory, what the system, the processes and reading the weights need beside it."""
_SENSIBLE: Final = 0.5
"""Of the memory, what is proposed for the copies."""
_GB: Final = 10**9
_LARGEST: Final = 6_000
"""GB of host memory: machines of eight devices have 2,000 to 4,000."""
_USUAL: Final = 2_000
_LONGEST: Final = 500
_EACH: Final = re.compile(r"\b(?:each|per|every)\b", re.IGNORECASE)


class Kept(NamedTuple):
    """`size` GB that each rank takes, or all ranks of a replica together; `written` as the text has it."""

    written: str
    size: float
    each_rank: bool
    at: int | None
    """None where it is a key within the value of an option."""


def host_caches(case: Case) -> Iterator[Remark]:
    """`--hicache-size 500` over eight ranks, beside `4 TB RAM`; more than machines have; or taken for the whole."""
    kept = kept_in_host(case)
    if kept is None or not case.laid_out or is_fragment(case.commands[0]) or len(case.commands) > 1:
        return
    nodes = case.first.node.nodes or 1
    ranks = ranks_of(case.first) // nodes
    times = ranks if kept.each_rank else max(1, ranks * nodes // (case.first.layout.tp * case.first.layout.pp)) / nodes
    if ranks < 2 and kept.each_rank:
        return
    if is_first(case.commands, case.script):  # for the others it is known
        case.script.budget.work(4 * len(case.script.lines), "the memory of its text")
    there = max(spoken_ram(case.script.lines), default=0) * GIB / _GB
    total = times * kept.size
    of_machine = "" if nodes == 1 else " of a machine"
    sizes = f"{kept.size:,.0f} GB of host memory"
    if kept.each_rank:
        sizes = f"{kept.size:,.0f} GB is for each of the {ranks} ranks{of_machine}, {total:,.0f} GB together"
    elif times > 1:
        sizes = f"{kept.size:,.0f} GB is for each of {times:g} replicas{of_machine}, {total:,.0f} GB together"
    if there and total > there * (1 - _LEFT):
        if kept.at is not None and case.checkpoint is not None and case.cluster is not None and total > there:
            return  # told with all that the machine needs
        message = (
            f"{sizes}, and the text speaks of {there:,.0f} GB of host memory: what is left is too little for "
            "the system, the processes and reading the weights"
        )
        proposed = int(there * _SENSIBLE / times / 10) * 10
        remedy = (
            f"write {kept.written} {proposed} or less" if proposed and kept.at is not None else "take a smaller one"
        )
        yield make_remark(Severity.WARNING, Code.MEMORY_LOW, kept.written, message, remedy, at=kept.at)
    elif not there and total > _LARGEST:
        usual = int(_USUAL * _SENSIBLE / times / 10) * 10
        message = (
            f"{sizes}: hardly a machine has so much host memory (those of eight devices have 2,000 to 4,000 GB), and "
            "the start ends where less is free"
        )
        remedy = (
            f"with {_USUAL:,} GB of host memory take {usual} GB or less{' for each rank' if kept.each_rank else ''}"
        )
        yield make_remark(Severity.WARNING, Code.MEMORY_LOW, kept.written, message, remedy, at=kept.at)
    elif kept.each_rank and kept.at is not None and _is_taken_for_all(kept.written, kept.size, case):
        message = f"{sizes}; the text speaks of {kept.size:,.0f} GB"
        remedy = f"write {kept.size / ranks:g} where {kept.size:,.0f} GB are meant for all ranks of a machine"
        yield make_remark(Severity.NOTE, Code.MEMORY_LOW, kept.written, message, remedy, at=kept.at)


def kept_in_host(case: Case) -> Kept | None:
    """The first that the command asks for: by the engine's option, or by the settings of a connector."""
    size = case.first.settings.kv_offload_size
    place = case.option(case.engine.command_line.options.get("kv_offload_size", ""))
    if size and place is not None:
        unit, each_rank = HOST_CACHES.get(place.flag or place.written, (float(_GB), True))
        return Kept(place.written, size * unit / _GB, each_rank, place.index)
    place = case.option(TRANSFER)
    value = as_json(place.value.strip("'")) if place is not None and isinstance(place.value, str) else None
    extra = value.get("kv_connector_extra_config") if isinstance(value, Mapping) else None
    if place is None or not isinstance(extra, Mapping):
        return None
    for key, each_rank in KEYS_OF_HOST_CACHES:
        amount = whole(str(extra.get(key, "")))
        if amount:
            return Kept(key, amount / _GB, each_rank, None)
    return None


def _is_taken_for_all(flag: str, size: float, case: Case) -> bool:
    """`--hicache-size 500` = 500 GB of CPU memory: on one line, without a word of ranks."""
    pattern = re.compile(
        rf"{re.escape(flag)}[ =]{size:g}\b[`\"']?[^|\n]{{0,40}}(?<![\d.]){size:g}[ ]?GB\b", re.IGNORECASE
    )
    lines = (line[:_LONGEST] for line in case.script.lines if flag in line)
    return any(pattern.search(line) and not _EACH.search(line) for line in lines)
