"""How many tokens each request has: fixed, drawn, or as a file has them. Pure.

128             each
64..512         uniform, both ends included
lognormal:512,0.6   median and sigma of the logarithm: most short, a few long
@lengths.txt    one of the numbers in a file, drawn with replacement
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from moonpad.values.errors import UsageError

MOST: Final = 1 << 24
EXAMPLES: Final = "128, 64..512, lognormal:512,0.6 or @FILE"


@dataclass(frozen=True, slots=True)
class Lengths:
    """`text` is as it was written. Every length is between `least` and `most`, both included."""

    text: str
    least: int
    most: int
    median: float = 0.0
    sigma: float = 0.0
    values: tuple[int, ...] = ()

    @property
    def requested(self) -> int | str:
        """The number if it is fixed, else the text."""
        return self.text if self.fixed is None else self.fixed

    @property
    def fixed(self) -> int | None:
        return self.least if self.least == self.most else None

    def draw(self, count: int, seed: int, what: str) -> tuple[int, ...]:
        """The same seed gives the same; `what` ("input", "output") keeps two rows of one seed apart."""
        if self.fixed is not None:
            return (self.fixed,) * count
        dice = Random(f"moonpad lengths {what} {seed}")  # noqa: S311 - must repeat; nothing secret hangs on it
        return tuple(self._draw_one(dice) for _ in range(count))

    def _draw_one(self, dice: Random) -> int:
        if self.values:
            return dice.choice(self.values)
        if self.sigma:
            drawn = dice.lognormvariate(math.log(self.median), self.sigma)
            return max(self.least, min(self.most, round(drawn)))
        return dice.randint(self.least, self.most)


def check_bounds(name: str, value: float, least: float, most: float) -> None:
    """Raises UsageError where a number, given as the option of that name, is outside of them, or not a number."""
    flag = f"--{name.replace('_', '-')}"
    if not value >= least:
        raise UsageError(f"{flag} must be at least {least:,}, not {shown(value)}")
    if value > most:
        raise UsageError(f"{flag} must be at most {most:,}, not {shown(value)}")


def shown(value: float) -> str:
    """As a message may repeat it: Python prints no integer of 4300 digits."""
    return str(value) if abs(value) < 10**20 else f"about {value:.0e}" if abs(value) < 10**300 else "a huge number"


def fixed(tokens: int) -> Lengths:
    return Lengths(str(tokens), tokens, tokens)


def parse_lengths(text: str, file_lines: Sequence[str] = ()) -> Lengths:
    """`file_lines`: what the file behind an `@` holds, one number a line.

    Raises:
        UsageError: the text or a line of the file is not a length.
    """
    if text.startswith("@"):
        return _empirical(text, file_lines)
    if text.startswith("lognormal:"):
        return _lognormal(text)
    ends = [_count(part, text) for part in text.split("..")]
    if len(ends) > 2 or ends[0] > ends[-1]:
        raise _wrong(text)
    return Lengths(text, ends[0], ends[-1])


def _lognormal(text: str) -> Lengths:
    parts = text.removeprefix("lognormal:").split(",")
    try:
        median, sigma = (float(part) for part in parts)
    except ValueError:
        raise _wrong(text) from None
    if not (1 <= median <= MOST and 0 < sigma <= 5):
        raise _wrong(text)
    return Lengths(text, 1, MOST, median, sigma)


def _empirical(text: str, lines: Sequence[str]) -> Lengths:
    values = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            values.append(_count(line.strip(), text))
        except UsageError:
            message = f"{text[1:]}, line {number} is not a number of tokens"
            raise UsageError(message, remedy="one number per line") from None
    if not values:
        raise UsageError(f"{text[1:]} is empty", remedy="one number per line")
    return Lengths(text, min(values), max(values), values=tuple(values))


def _count(part: str, text: str) -> int:
    if not (part.isascii() and part.isdecimal()) or len(part) > 9 or not 1 <= int(part) <= MOST:
        raise _wrong(text)
    return int(part)


def _wrong(text: str) -> UsageError:
    return UsageError(f"{text[:60]!r} is not a length in tokens", remedy=f"write {EXAMPLES}")
