"""Sizes of a layout that a text only reckons with: `TP_SIZE × DP_SIZE = 4×1 = 4` gives no size of its own."""

from __future__ import annotations

import re
from typing import Final

_TIMES_BEFORE: Final = re.compile(r"[A-Za-z_)\]`][ ]?(?:[×*·/+]|[ ]x)[ ]?[`(]?\Z")
"""In front of a name: another name, and a sign between them."""
_TIMES_BEHIND: Final = re.compile(r"[ ]?(?:[×*·/+]|x)[ ]?\d{1,4}[ ]?(?:[=>×*)]|is\b)")
_GIVEN: Final = re.compile(r"[=:]")
_FARTHEST: Final = 10


def is_of_a_sum(line: str, match: re.Match[str]) -> bool:
    """Whether what looks like a size, `DP_SIZE = 4`, is the result of a sum, or its first number."""
    before = line[max(0, match.start() - _FARTHEST) : match.start()]
    product = _TIMES_BEFORE.search(before) is not None and _GIVEN.search(match[0]) is not None
    return product or _TIMES_BEHIND.match(line, match.end()) is not None
