"""Devices that a text counts by their memory alone: `8x80 GB`, `a node of 8x80-141 GB`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_COUNTED: Final = re.compile(
    r"(?<![A-Za-z0-9_.])(?P<count>[1-9]\d?)[ ]?[x×*][ ]?(?P<least>\d{2,3})[ ]?(?:Gi?B?)?"
    r"(?:[ ]?(?:[-–—/~～]|to|or)[ ]?(?P<most>\d{2,3})[ ]?)?(?<![ ])[ ]?Gi?B?(?![A-Za-z0-9/])",
    re.IGNORECASE,
)
_OF_DEVICES: Final = re.compile(
    r"显存|显卡|\bVRAM\b|\bGPUs?\b|\bcards?\b|\bHBM\w*|\bnodes?\b|\bmachines?\b", re.IGNORECASE
)
_OF_HOST: Final = re.compile(
    r"内存(?!卡)|\bRAM\b|\bDDR\d|\bR?DIMMs?\b|\bsystem memory\b|\bNVMe\b|\bSSDs?\b", re.IGNORECASE
)
_LONGEST: Final = 500
"""A longer line is data, not prose."""


@lru_cache(maxsize=4)
def sizes_counted(lines: tuple[str, ...], count: int) -> tuple[int, ...]:
    """GB of each of so many devices, the least first."""
    texts = [line[:_LONGEST] for line in lines if "G" in line or "g" in line]
    about = (text for text in texts if _OF_DEVICES.search(text) and not _OF_HOST.search(text))
    counted = (match for text in about for match in _COUNTED.finditer(text) if int(match["count"]) == count)
    return tuple(sorted({int(size) for match in counted for size in (match["least"], match["most"]) if size}))
