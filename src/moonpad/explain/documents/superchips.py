"""GPUs of superchips: the `32 B300` of `GB300 NVL72 ... = 32 B300` are those of that rack, and no machines of 8."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from moonpad.explain.documents.device_mentions import Mention
from moonpad.values.records import replace

_LONGEST: Final = 2000
"""A longer line is data, not prose."""
_CHIPS: Final = {"B300": "GB300", "B200": "GB200"}
_TRAY: Final = 4
"""GPUs of one node of such a rack."""
_MACHINE: Final = 8
"""GPUs of a machine with the same kind that is no superchip."""
_OWN: Final = re.compile(r"\b[HD]GX[ -]?B[23]00|\b(?:8|eight)[ ]?-?[x×*][ ]?(?:NVIDIA[ ])?B[23]00", re.IGNORECASE)
_COMPARES: Final = re.compile(
    r"\b(?:vs\.?|versus|instead of|compared|unlike|elsewhere|better|faster|slower|or|and)\b|对比|相比|而不是|和|与",
    re.IGNORECASE,
)
_OF_RACK: Final = re.compile(
    r"\bNVL[ -]?(?:36|72|144)\b|(?<![\w.])4[ ]?[x×*]?[ ]?(?:GPUs?|卡|张)|[x×*][ ]?4[ ]?(?:GPUs?|卡|张)"
    r"|\bfour[ -](?:\w+[ ])?GPUs?\b",
    re.IGNORECASE,
)


def as_superchips(named: Sequence[Mention], lines: Sequence[str]) -> Sequence[Mention]:
    """With a number of B300 as one of GB300, where the text names that rack or nodes of four beside it."""
    whole = {each.kind for each in named if each.known}
    if not whole & {*_CHIPS.values()} or not whole & {*_CHIPS}:
        return named
    return [_as_superchip(each, named, lines) for each in named]


def _as_superchip(each: Mention, named: Sequence[Mention], lines: Sequence[str]) -> Mention:
    chip = _CHIPS.get(each.kind, "")
    racks = [other.line for other in named if other.kind == chip]
    if each.machine is None or not racks:
        return each
    text = lines[each.line - 1][:_LONGEST]
    *nodes, count = (int(number) for number in each.machine.removesuffix(f"x{each.kind}").split("x"))
    per_machine = count if nodes else 0
    if (
        _OWN.search(text)
        or per_machine not in (0, _TRAY)
        or (not nodes and count == _MACHINE and each.line not in racks)
    ):
        return each
    beside = {each.line, *racks}
    if each.line in racks and _COMPARES.search(text):
        return each
    if not any(_OF_RACK.search(lines[line - 1][:_LONGEST]) for line in beside):
        return each
    return replace(each, kind=chip, machine=each.machine.removesuffix(each.kind) + chip)
