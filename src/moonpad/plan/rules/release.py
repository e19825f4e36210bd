"""Which of two engine versions is older, as PEP 440 orders what engines really call themselves."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_VERSION: Final = re.compile(
    r"v?(\d{1,6}(?:\.\d{1,6}){0,3})(?:[.-]?(a|b|rc)(\d{1,6}))?(?:\.?post(\d{1,6}))?(\.?dev\d*)?", re.ASCII
)
_STAGES: Final = {"a": 1, "b": 2, "rc": 3}

Release = tuple[tuple[int, ...], int, int, int, int]
NEWEST: Final[Release] = ((10**9,), 0, 0, 0, 0)


@lru_cache(maxsize=256)
def release(version: str) -> Release:
    """A sort key: `0.11.1.dev3` < `0.11.1rc6.dev211` < `0.11.1rc6` < `0.11.1` < `0.11.1.post1`; what stands behind a
    `+` does not count. A text that is no version (`""`, `nightly`) is newer than every one.
    """
    found = _VERSION.match(version.strip())
    if found is None:
        return NEWEST
    numbers, stage, stage_number, post, dev = found.groups()
    parts = tuple(int(number) for number in numbers.split("."))
    while len(parts) > 1 and parts[-1] == 0:
        parts = parts[:-1]
    final = 0 if dev and not stage and not post else 4
    return (
        parts,
        _STAGES[stage] if stage else final,
        int(stage_number or 0),
        int(post or 0),
        0 if dev else 1,
    )


def since(version: str, first: str) -> bool:
    """Whether `version` is `first` or newer; an empty `first` is older than everything."""
    return not first or release(version) >= release(first)
