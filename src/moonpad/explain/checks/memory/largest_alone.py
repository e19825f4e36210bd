"""A layout whose weights only the very largest devices hold, in a text that names none of them, or none of those that
it speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from moonpad.catalog.hardware import Hardware, hardware
from moonpad.engines.foreign_names import OVERRIDES
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.engine_share import share_of
from moonpad.explain.checks.memory.largest_of_capability import largest_of_capability
from moonpad.explain.checks.models.other_families import in_full, is_other
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.documents.logged_caches import tells_of_answers, tells_of_cache
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.checkpoint import Checkpoint
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB

_FEW: Final = 6
"""Kinds of devices that are named one by one."""
_OF_FEW_KINDS: Final = 2
"""Of a maker with few kinds: one alone."""
OTHER_WEIGHTS: Final = ("--quantization", "--load-format", *OVERRIDES)
"""Options with which other bytes are loaded than those of the repository."""
_FEW_BITS: Final = 5
"""For each weight. Weights that take no more than this are not made much smaller under the same name."""
_USUAL: Final = ("A2", "A3", "H100", "H200", "B200", "B300", "MI300X", "MI325X", "MI355X")
"""Kinds that many have, of each maker those with less memory first."""
_LONGEST: Final = 2000
_MEASURED: Final = re.compile(
    r"\bthroughput (?:is|was|of|rose|went)\b|\d[ ]?(?:tokens?/s|tok/s|tps)\b|\b(?:TTFT|TPOT|ITL)[^\n]{0,20}\d[ ]?ms\b",
    re.IGNORECASE,
)
"""What is measured with a server has run."""


def largest_alone(case: Case) -> Iterator[Remark]:
    """1 TB of weights over four devices: each has 240 GiB of them, and few kinds of devices have as much memory, or
    none of the compute capability that the text gives."""
    reading, checkpoint, facts = case.first, case.checkpoint, case.engine.facts
    flag = case.engine.command_line.options.get("tp")
    place = case.option(flag) if flag else None
    helped = facts.host_experts or reading.left_to_engine or reading.settings.device_layers is not None
    if checkpoint is None or case.cluster is not None or not case.whole or reading.takes_all_devices or helped:
        return
    if flag is None or place is None or reading.settings.cpu_offload_gib or is_fragment(case.commands[0]):
        return
    others = [name for name in OTHER_WEIGHTS if name != "--quantization" or not _is_its_own(case, checkpoint)]
    if not _is_meant(checkpoint, reading.model) or case.option(*others) is not None:
        return
    ranks = reading.layout.world_size
    share, fraction = checkpoint.total_bytes / ranks, min(share_of(case), 1.0)
    known = [row for row in hardware().values() if row.device and row.device.platform in facts.platforms]
    holding = [row for row in known if row.device and row.device.usable_bytes * fraction > share]
    if holding and _are_named(holding, case):
        return
    within = f" in {fraction:g} of the memory" if fraction < 1 else ""
    each = "the only device" if ranks == 1 else f"each of {ranks} devices"
    message = f"{each} gets at least {share / GIB:,.0f} GiB of weights: "
    if largest := largest_of_capability(case):
        if largest.usable_bytes * fraction > share:
            return
        message += f"the text speaks of compute capability {largest.capability}, and of its devices none that is known "
        message += f"holds that{within}: {largest.label}, the largest, has {largest.usable_bytes / GIB:,.0f} GiB"
    elif 0 < len(holding) < min(_FEW, max(_OF_FEW_KINDS, len(known) // 3)):
        labels = ", ".join(row.label for row in holding)
        message += f"of the devices known only {labels} hold that{within}, and the text names none of them"
    else:
        return
    remedy = _more(flag, reading.layout.tp, ranks, checkpoint, fraction, known)
    if largest:
        needed = next(ranks * 2**n for n in range(1, 30) if share < 2**n * fraction * largest.usable_bytes)
        remedy = f"take {needed} or more of them, larger devices, or smaller weights"
    lines = case.script.lines
    ran = is_in_lines(_MEASURED, lines, _LONGEST) or (largest and (tells_of_cache(lines) or tells_of_answers(lines)))
    remedy = "name the devices with --on" if ran else remedy
    yield make_remark(
        Severity.NOTE if ran else Severity.WARNING, Code.DOES_NOT_FIT, flag, message, remedy, at=place.index
    )


def _is_meant(checkpoint: Checkpoint, model: str) -> bool:
    """Whether the repository is named, or its name alone; or, of weights of four bits,
    a folder of that name: they are not made much smaller."""
    own, folder = checkpoint.name.rpartition("/")[2].casefold(), model.casefold().rstrip("/").rpartition("/")[2]
    small = checkpoint.total_bytes * 8 < _FEW_BITS * checkpoint.parameters
    bare = own == (folder if small else model.casefold())
    return in_full(checkpoint.name, model) or (bare and not is_other(checkpoint))


def _is_its_own(case: Case, checkpoint: Checkpoint) -> bool:
    """Whether `--quantization` names what the files say themselves."""
    return case.text("--quantization").strip("'\"") == checkpoint.quantization.method


def _are_named(rows: Sequence[Hardware], case: Case) -> bool:
    """Whether the text names a device of one of these rows."""
    labels = "|".join(re.escape(row.label) for row in rows)
    named = re.compile(rf"(?<![A-Za-z0-9])(?:{labels})(?![0-9])", re.IGNORECASE)
    case.script.budget.work(len(case.script.lines), "the text around its engine commands")
    return is_in_lines(named, case.script.lines, _LONGEST)


def _more(flag: str, tp: int, ranks: int, checkpoint: Checkpoint, fraction: float, known: Sequence[Hardware]) -> str:
    """Twice the ranks, and the smallest of the usual devices that hold their share then."""
    many = f" with the other sizes as they are: {2 * ranks} devices" if ranks > tp else ", for as many devices"
    share = checkpoint.total_bytes / (2 * ranks)
    usual = (row for label in _USUAL for row in known if row.label == label)
    large = next((row for row in usual if row.device and row.device.usable_bytes * fraction > share), None)
    size = f" with the memory of {large.label} or more" if large is not None else ""
    return f"write {flag} {2 * tp} or more{many}{size}, or take smaller weights"
