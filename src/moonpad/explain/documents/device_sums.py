"""The memory of all devices together beside their number, `2x H100 (188 GB VRAM)`: which of the kinds of that name has
its part of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

_SUM: Final = re.compile(
    r"(?<![\w.-])(?P<count>[2-9]|1[0-6])[ ]?[x×*][ ]?(?:NVIDIA[ ])?(?P<device>H100|H20|A100|(?:RTX[ -]?)?4090)"
    r"s?(?:[ ]GPUs?)?[ ,(（=:-]{1,4}(?P<size>[0-9]{2,4})[ ]?Gi?B?(?![A-Za-z])(?![ ]?(?:each|per|[x×*/]))",
    re.ASCII,
)
_OF_ALL: Final = re.compile(
    r"[ ]?(?:of[ ])?(?:V?RAM[ ]?)?[,)]?[ ]?(?:in[ ])?(?:total|combined|together|altogether|in all|across both)\b",
    re.IGNORECASE,
)
_OWN: Final = {"H100": 80, "H20": 96, "A100": 80, "RTX4090": 24}
"""GB of the usual device of the name."""
_APART: Final = 1.5
_LONGEST: Final = 2000


def is_sum(text: str, end: int) -> bool:
    """Whether the size that ends there is that of all devices: `Dual RTX 4090 (48GB total)`."""
    return _OF_ALL.match(text, end) is not None


def summed_kinds(lines: Sequence[str], sizes: Mapping[tuple[str, int], str]) -> dict[str, str]:
    """A name → the kind that is meant by it all over the text, by `sizes`; none where sums differ."""
    found: dict[str, set[str]] = {}
    for line in lines:
        for match in _SUM.finditer(line[:_LONGEST]) if "G" in line else ():
            name = re.sub(r"[ -]", "", match["device"])
            name = name if name in _OWN else f"RTX{name}"
            count, size = int(match["count"]), int(match["size"])
            if size <= _APART * _OWN[name]:
                continue  # that of one of them
            each, rest = divmod(size, count)
            found.setdefault(name, set()).add("" if rest else sizes.get((name, each), ""))
    return {name: kind for name, kinds in found.items() if len(kinds) == 1 and (kind := next(iter(kinds)))}
