"""From values to places on a drawing, with ticks at round numbers. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ROUND: Final = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """`low` and `high` are values, `start` and `end` their places; with `log` equal ratios are equally far apart."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The place of a value; what lies beyond the scale is put at its end."""
        inside = min(max(value, self.low), self.high)
        low, high, here = (math.log(end) if self.log else end for end in (self.low, self.high, inside))
        return self.start + (self.end - self.start) * (here - low) / (high - low)


def nice_step(span: float, count: int) -> float:
    """1, 2 or 5 times a power of ten: the smallest that parts the span into `count` at most."""
    least = span / count
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in ROUND if factor * power >= least * (1 - 1e-9))


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Multiples of a round step between the two ends, `count` + 1 at most; `low` is below `high`."""
    step = nice_step(high - low, count)
    return _multiples(step, math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9))


def _multiples(step: float, first: int, last: int) -> list[float]:
    return [round(place * step, decimals(step)) + 0.0 for place in range(first, last + 1)]


def axis(low: float, high: float, start: float, end: float, count: int = 6) -> tuple[Scale, list[float]]:
    """A scale that begins and ends at a tick and holds both values, and its ticks. Equal values get some room."""
    if high <= low:
        room = abs(low) * 0.1 or 1.0
        low, high = (low - room, low + room) if low else (0.0, room)
    step = nice_step(high - low, count)
    marks = _multiples(step, math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9))
    return Scale(marks[0], marks[-1], start, end), marks


def load_axis(loads: Sequence[int], start: float, end: float) -> Scale:
    """A logarithmic scale for the loads of a sweep, which mostly double from one to the next."""
    low, high = min(loads), max(loads)
    return Scale(low, high, start, end, log=True) if high > low else Scale(low * 0.5, low * 2.0, start, end, log=True)


def decimals(step: float) -> int:
    """Digits behind the point that a multiple of the step needs."""
    return max(0, -math.floor(math.log10(step) + 1e-9))


def tick_label(value: float, step: float) -> str:
    return f"{value:,.{decimals(step)}f}"
