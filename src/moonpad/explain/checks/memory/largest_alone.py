"""A layout whose weights only the very largest devices hold, in a text that names none of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.hardware import hardware
from moonpad.engines.foreign_names import OVERRIDES
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.models.other_families import in_full, is_other
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB

_FEW: Final = 6
"""Kinds of devices that are named one by one."""
_OF_FEW_KINDS: Final = 2
"""Of a maker with few kinds: one alone."""
OTHER_WEIGHTS: Final = ("--quantization", "--load-format", *OVERRIDES)
"""Options with which other bytes are loaded than those of the repository."""
_LONGEST: Final = 2000
_MEASURED: Final = re.compile(
    r"\bthroughput (?:is|was|of|rose|went)\b|\d[ ]?(?:tokens?/s|tok/s|tps)\b|\b(?:TTFT|TPOT|ITL)[^\n]{0,20}\d[ ]?ms\b",
    re.IGNORECASE,
)
"""What is measured with a server has run."""


def largest_alone(case: Case) -> Iterator[Remark]:
    """1 TB of weights over four devices: each has 240 GiB of them, and few kinds of devices have as much memory."""
    reading, checkpoint, facts = case.first, case.checkpoint, case.engine.facts
    flag = case.engine.command_line.options.get("tp")
    place = case.option(flag) if flag else None
    helped = facts.host_experts or reading.left_to_engine or reading.settings.device_layers is not None
    if checkpoint is None or case.cluster is not None or not case.whole or reading.takes_all_devices or helped:
        return
    if flag is None or place is None or reading.settings.cpu_offload_gib or is_fragment(case.commands[0]):
        return
    bare = reading.model.casefold() == checkpoint.name.rpartition("/")[2].casefold() and not is_other(checkpoint)
    if not (bare or in_full(checkpoint.name, reading.model)) or case.option(*OTHER_WEIGHTS) is not None:
        return
    ranks = reading.layout.world_size
    share = checkpoint.total_bytes / ranks
    fraction = min(reading.settings.gpu_memory_utilization or 1.0, 1.0)
    known = [row for row in hardware().values() if row.device and row.device.platform in facts.platforms]
    holding = [row for row in known if row.device and row.device.usable_bytes * fraction > share]
    if not 0 < len(holding) < min(_FEW, max(_OF_FEW_KINDS, len(known) // 3)):
        return
    labels = [row.label for row in holding]
    named = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, labels))})(?![0-9])", re.IGNORECASE)
    case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    if is_in_lines(named, case.script.lines, _LONGEST):
        return
    within = f" in {fraction:g} of the memory" if fraction < 1 else ""
    each = "the only device" if ranks == 1 else f"each of {ranks} devices"
    message = (
        f"{each} gets at least {share / GIB:,.0f} GiB of weights: of the devices known only {', '.join(labels)} hold "
        f"that{within}, and the text names none of them"
    )
    tp = reading.layout.tp
    many = f" with the other sizes as they are: {2 * ranks} devices" if ranks > tp else ", for as many devices"
    remedy = f"write {flag} {2 * tp} or more{many}, or smaller weights"
    ran = is_in_lines(_MEASURED, case.script.lines, _LONGEST)
    if ran:
        remedy = "name the devices with --on"
    yield make_remark(
        Severity.NOTE if ran else Severity.WARNING, Code.DOES_NOT_FIT, flag, message, remedy, at=place.index
    )
