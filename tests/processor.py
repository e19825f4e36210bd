"""Limits in seconds of the processor, which hold on a slow machine too.

Such a limit is there to catch work that grows with the square of its input, not to measure a machine: borrowed ones
differ by a factor of three, and by the hour.
"""

from __future__ import annotations

import re
import time
from typing import Final

ORDINARY_S: Final = 0.1
"""What `_reference` takes on the machine on which the limits were set."""
_WORD: Final = re.compile(r"\w+")


def in_time(spent_s: float, limit_s: float) -> bool:
    """Whether `spent_s` of processor time is below `limit_s`, or would be on the machine where the limit was set."""
    return spent_s < limit_s or spent_s < limit_s * max(1.0, _reference() / ORDINARY_S)


def _reference() -> float:
    """Seconds of processor time for some of what the program does: text searched, words counted, objects made."""
    text = "--tensor-parallel-size 8 --max-model-len 131072 \\\n" * 40
    begun = time.process_time()
    for _ in range(480):
        counts: dict[str, int] = {}
        for found in _WORD.finditer(text):
            counts[found.group()] = counts.get(found.group(), 0) + 1
    return time.process_time() - begun
