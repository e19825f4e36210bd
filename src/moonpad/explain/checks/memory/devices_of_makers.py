"""The devices of other makers that a text names, where it names none of those that are planned for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from moonpad.catalog.other_makers import devices_of_makers
from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.device_mentions import mentions
from moonpad.explain.documents.line_search import is_in_lines

_LONGEST: Final = 2000
_OF_USUAL: Final = re.compile(r"\b(?:NVIDIA|CUDA|AMD(?! (?:EPYC|Ryzen))|ROCm|Ascend)\b", re.IGNORECASE)
"""A text that speaks of these as well may list what an engine runs on."""
_LEFT: Final = 0.9
"""Of the memory, what weights may take where there is to be room for anything else."""


def device_of_makers(case: Case) -> tuple[str, int]:
    """`a tile of an Intel Max GPU` and its bytes, the largest where a text names several kinds; ("", 0) where it names
    none, or speaks of devices that are planned for."""
    case.script.budget.once("devices of other makers", len(case.script.lines), "the text around its engine commands")
    found = _named(tuple(case.script.lines))
    if found[1] and is_in_lines(_OF_USUAL, case.script.lines, _LONGEST):
        return "", 0
    if found[1] and any(each.known for each in mentions(case.script.lines, case.script.placed_hints)):
        return "", 0
    return found


def ranks_for(weights: int, device_bytes: int, least: int) -> int:
    """So many devices hold them with room left: the next power of two, which heads can be shared out over."""
    needed = max(least, -(-weights // max(1, int(_LEFT * device_bytes))))
    return 1 << (needed - 1).bit_length()


@lru_cache(maxsize=1)
def _named(lines: Sequence[str]) -> tuple[str, int]:
    sizes: list[tuple[str, int]] = []
    for row in devices_of_makers().values():
        if not is_in_lines(re.compile(row.pattern, re.IGNORECASE), lines, _LONGEST):
            continue
        halved = row.part and is_in_lines(re.compile(rf"\b{row.part}s?\b", re.IGNORECASE), lines, _LONGEST)
        sizes.append((f"a {row.part} of {row.label}", row.part_bytes) if halved else (row.label, row.memory_bytes))
    return max(sizes, key=lambda each: each[1], default=("", 0))
