"""A start on one device, with the memory of a device in the words just above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.checks.command_traits import has_started
from moonpad.explain.checks.memory.largest_alone import OTHER_WEIGHTS
from moonpad.explain.checks.models.other_families import in_full
from moonpad.explain.documents.logged_caches import tells_of_answers
from moonpad.explain.flag_lists import is_fragment
from moonpad.explain.results import Remark, make_remark
from moonpad.values.finding import Code, Severity
from moonpad.values.units import GIB

_SIZE: Final = re.compile(
    r"(?<![\w.x×*+])(?:[<≤~≈][ ]?)?(?:\d{1,3}[ ]?(?:GB)?[ ]?(?:-|–|to)[ ]?)?(?P<size>\d{2,3})[ ]?Gi?B?[ -]?(?:of )?"
    r"(?:(?:GPU|video|device)[ ]?)?(?:VRAM|memory|显存|GPUs?\b(?!s))",
    re.IGNORECASE,
)
_SEVERAL: Final = re.compile(
    r"[x×*][ ]?\Z|\b(?:\d+|two|four|eight|multi\w*|several)[ -]?(?:GPUs?|cards?|devices?)\b|\bper\b|\beach\b"
    r"|\bKV\b|\bcache\b|\bsav\w+|\bless\b|\bfree\b|\bRAM\b",
    re.IGNORECASE,
)
"""Memory of several devices, of a part, or of the host."""
_SOLD: Final = frozenset({12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 141, 192})
"""GB that devices are sold with: another figure is of what something takes."""
_ABOVE: Final = 6
_LONGEST: Final = 400


def spoken_single_device(case: Case) -> Iterator[Remark]:
    """`# Single GPU, 40-80GB VRAM`, and weights of more than the largest of these."""
    checkpoint, reading, facts = case.checkpoint, case.first, case.engine.facts
    helped = facts.host_experts or reading.left_to_engine or reading.settings.cpu_offload_gib or facts.gguf_only
    if checkpoint is None or case.cluster is not None or case.devices_asked or helped or reading.takes_all_devices:
        return
    if reading.layout.world_size * reading.replicas != 1 or not case.whole or is_fragment(case.commands[0]):
        return
    if not in_full(checkpoint.name, reading.model) or case.option(*OTHER_WEIGHTS) is not None:
        return
    size = _spoken(case)
    if not size or checkpoint.total_bytes <= size * GIB:
        return
    if has_started(case.commands[0], by_words=True) or tells_of_answers(case.script.lines):
        return
    message = (
        f"the text gives {size} GB as the memory of the device; the weights of {checkpoint.name} are "
        f"{checkpoint.total_bytes / GIB:,.0f} GiB, and without a layout one device gets all of them"
    )
    flag = case.engine.command_line.options.get("tp", "memory")
    place = case.option(flag)
    needed = next((2**n for n in range(1, 12) if checkpoint.total_bytes <= 0.8 * 2**n * size * GIB), 0)
    remedy = f"{'write' if place else 'add'} {flag} {needed}, for as many devices, or take smaller weights"
    at = place.index if place is not None else None
    yield make_remark(Severity.WARNING, Code.DOES_NOT_FIT, flag, message, remedy, at=at)


def _spoken(case: Case) -> int:
    """The largest size between the command and the lines just above it; 0 for none."""
    line, lines = case.commands[0].line, case.script.lines
    case.script.budget.work(_ABOVE, "the text around its engine commands")
    largest = 0
    for text in lines[max(0, line - 1 - _ABOVE) : line]:
        match = _SIZE.search(text[:_LONGEST]) if "G" in text[:_LONGEST] else None
        if match is None:
            continue
        if _SEVERAL.search(text[: match.start()]) or _SEVERAL.search(text[match.end() : _LONGEST]):
            return 0
        if int(match["size"]) in _SOLD:
            largest = max(largest, int(match["size"]))
    return largest
