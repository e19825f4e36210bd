"""What of a long test one day runs: a quarter of its examples, others each day; with `DRAWN=all` every one."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from typing import TypeVar

QUARTER = 4
Value = TypeVar("Value")


def of_the_day(count: int) -> int:
    """So many examples of `count`."""
    return count if _all() else -(-count // QUARTER)


def step_of_the_day() -> tuple[int, int]:
    """Which of numbered places: the first, from 1 on, and how far the next one is."""
    return (1, 1) if _all() else (1 + _number("") % QUARTER, QUARTER)


def some(values: Iterable[Value]) -> list[Value]:
    """For `parametrize`: the first always, of the others a quarter."""
    first, *others = values
    return [first, *(value for value in others if _all() or _number(str(value)) % QUARTER == 0)]


def seed_of_the_day(name: str) -> str:
    return f"{name} {_day()}"


def _day() -> str:
    return os.environ.get("DRAWN", "")


def _all() -> bool:
    return _day() == "all"


def _number(word: str) -> int:
    return zlib.crc32(f"{_day()} {word}".encode())
