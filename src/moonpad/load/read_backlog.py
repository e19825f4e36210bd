"""Reads that have a timestamp but were not parsed yet, and records that were not written yet.

When many answers come at once, parsing their heads and ends would delay the timestamps of the next reads. So that work
is done in short turns, and between two turns the loop reads what has arrived.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final

TURN_S: Final = 0.0005
Clock = Callable[[], float]
Work = Callable[..., None]


class Backlog:
    """In the order in which it came."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: deque[tuple[Work, tuple[Any, ...]]] = deque()
        self._free_s = clock()
        """From when on what comes alone is done at once."""
        self._has_turn = False

    def put(self, now_s: float, work: Work, *args: Any) -> None:
        """It is done at once where nothing was done lately, and otherwise soon."""
        if not self._waiting and now_s >= self._free_s:
            self._free_s = now_s + TURN_S
            work(*args)
            return
        self._waiting.append((work, args))
        if not self._has_turn:
            self._has_turn = True
            asyncio.get_running_loop().call_soon(self._turn)

    def follow(self, work: Work, *args: Any) -> None:
        """What comes of work that is being done: at once where nothing else waits."""
        if self._waiting:
            self._waiting.append((work, args))
        else:
            work(*args)

    def clear(self) -> None:
        """Does all of it now: something else must not come before it."""
        while self._waiting:
            self._next()

    def _turn(self) -> None:
        self._free_s = end_s = self._clock() + TURN_S
        try:
            while self._waiting:
                self._next()
                if self._clock() >= end_s:
                    break
        finally:  # work that fails does not keep what is behind it
            self._has_turn = bool(self._waiting)
            if self._has_turn:
                asyncio.get_running_loop().call_soon(self._turn)

    def _next(self) -> None:
        work, args = self._waiting.popleft()
        work(*args)
