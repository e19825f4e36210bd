"""The memory of a device by the words of a text, where its kind is none of the catalogue."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from moonpad.explain.checks.check_case import Case
from moonpad.explain.documents.device_nearness import in_templates

_KIND: Final = r"(?:RTX|GTX|GeForce|Quadro|Tesla|Radeon)"
_SIZES: Final = frozenset({8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 72, 80, 96, 128, 192})
"""GB that devices are sold with: another figure is of what something takes."""
_BEHIND: Final = re.compile(
    rf"{_KIND}[^\n|;:]{{0,30}}?(?:[:：][ ]?)?(?<![\w.~])(\d{{1,3}})[ ]?Gi?B(?! (?:used|free))", re.IGNORECASE
)
_BEFORE: Final = re.compile(
    rf"(?<![\w.~])(\d{{1,3}})[ ]?Gi?B[ -]?(?:NVIDIA |AMD |VRAM )?(?:{_KIND}|GPUs?\b|cards?\b)", re.IGNORECASE
)
_LONGEST: Final = 500


def stated_gigabytes(case: Case) -> int:
    """The largest figure beside a word for a device, whatever it is of; 0 where there is none."""
    case.script.budget.once("memory of devices", len(case.script.lines), "the text around its engine commands")
    own, lines = case.commands[0].line, case.script.lines
    templates = in_templates(lines) if case.script.markdown else frozenset()
    figures = ((at, gb) for at, gb in _figures(lines) if at not in templates or own in templates)
    return max((gb for at, gb in figures if case.script.says_of(at, own)), default=0)


@lru_cache(maxsize=2)  # each engine command of a text asks
def _figures(lines: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    return tuple(
        (at, int(match[1]))
        for at, line in enumerate(lines, 1)
        if "G" in line[:_LONGEST]
        for pattern in (_BEHIND, _BEFORE)
        for match in pattern.finditer(line[:_LONGEST])
        if int(match[1]) in _SIZES
    )
