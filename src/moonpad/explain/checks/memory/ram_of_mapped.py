"""Weights in GGUF that the machine of the text cannot hold, whatever its device is: `32 GB RAM` and a device that the
catalogue does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.catalog.hardware import hardware
from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.memory.expert_memory import spoken_ram
from moonpad.explain.documents.line_search import is_in_lines
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB, gib

_SEVERAL: Final = re.compile(
    r"(?<![\w.])(?:[2-9]|\d\d+)[ ]?[x×*](?![\w/])|[x×][ ]?[2-9]\b|\bGPUs\b|\b(?:two|three|four|both|dual)\b|张|块|双",
    re.IGNORECASE,
)
"""More than one device, or machine."""
_LONGEST: Final = 500


def ram_of_mapped(case: Case) -> Iterator[Remark]:
    """Told where not even the largest device beside that RAM would hold all of them."""
    checkpoint, command = case.checkpoint, case.commands[0]
    if checkpoint is None or case.cluster is not None or case.devices_asked or not case.engine.facts.gguf_only:
        return
    if is_fragment(command) or command.more or case.option("--rpc") is not None:
        return
    case.script.budget.work(4 * len(case.script.lines), "the memory of its text")
    sizes = spoken_ram(case.script.lines)
    if not sizes or is_in_lines(_SEVERAL, case.script.lines, _LONGEST):
        return
    largest = max(row.device.usable_bytes for row in hardware().values() if row.device is not None)
    if checkpoint.total_bytes - largest <= max(sizes) * GIB:
        return
    message = (
        f"the weights are {gib(checkpoint.total_bytes)}, and the text speaks of {max(sizes):,.0f} GB of RAM and one "
    )
    message += "device: what has no room there is read from the disk again for each token, if it loads at all"
    remedy = "take weights of fewer bits, a smaller model, or a machine with more memory"
    yield make_remark(Severity.WARNING, Code.MEMORY_LOW, "host memory", message, remedy)
