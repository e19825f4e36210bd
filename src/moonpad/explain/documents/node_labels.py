"""Which machine a comment above a command names: `# node 1`, `on the head node`."""

from __future__ import annotations

import re
from typing import Final

_NODE: Final = re.compile(r"\b(?:node|host|machine|server|rank)[ _#-]{0,2}([0-9]{1,4})\b", re.IGNORECASE)
_FIRST_NODE: Final = re.compile(
    r"\b(?:head|master|primary|first|main|leader)[ -](?:node|host|machine|server)\b", re.IGNORECASE
)
_LATER_NODE: Final = re.compile(
    r"\b(?:worker|second|secondary|other|remaining)[ -](?:node|host|machine|server)s?\b|\bworkers\b", re.IGNORECASE
)


def node_in(label: str) -> int | None:
    """The number of the one node that a comment names. None where it names none, or several."""
    label = label[:500]
    numbers = set(_NODE.findall(label))
    if numbers:
        return int(numbers.pop()) if len(numbers) == 1 else None
    if _FIRST_NODE.search(label):
        return 0
    return 1 if _LATER_NODE.search(label) else None
