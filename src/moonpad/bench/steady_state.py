"""The part of a run in which the load was on: neither the start, when requests come in, nor the last ones running out.

What a run of few requests says of throughput is mostly its two ends; the figures of this window are the server's under
the load itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

NEARLY: Final = 0.9
"""Of the most requests that ever ran at once: from the first such instant to the last is the window."""
LEAST_SHARE: Final = 0.2
"""Of the run's length, below which the window says less than the whole."""


@dataclass(frozen=True, slots=True)
class SteadyWindow:
    """Seconds since the run began; tokens a second between them."""

    from_s: float
    to_s: float
    output_throughput: float


def steady_window(started_s: Sequence[float], closed_s: Sequence[float]) -> tuple[float, float] | None:
    """From the first instant at which nearly as many requests run as ever, to the last; None where that is no part of
    the run worth a figure.
    """
    starts, ends = sorted(started_s), sorted(closed_s)
    most = max((count for _, count in _counts(starts, ends)), default=0)
    if not most:
        return None
    enough = NEARLY * most
    from_s = to_s = None
    was_enough = False
    for at_s, count in _counts(starts, ends):
        if count >= enough and from_s is None:
            from_s = at_s
        if was_enough:
            to_s = at_s  # it lasted until this change
        was_enough = count >= enough
    if from_s is None or to_s is None or to_s - from_s < LEAST_SHARE * (ends[-1] - starts[0]) or to_s <= from_s:
        return None
    return from_s, to_s


def _counts(starts: Sequence[float], ends: Sequence[float]) -> Iterator[tuple[float, int]]:
    """The instants at which the number of running requests changes, and what it is from then on."""
    begun = over = 0
    while over < len(ends):
        if begun < len(starts) and starts[begun] < ends[over]:
            begun += 1
            yield starts[begun - 1], begun - over
        else:
            over += 1
            yield ends[over - 1], begun - over
