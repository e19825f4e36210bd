"""Reads that have a timestamp but are not parsed yet, and records that are not written yet.

When many answers come at once, parsing their heads and ends would delay the timestamps of the next reads. So this work
is done in short turns, and the event loop reads what has arrived between two turns.
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
    """First in, first out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: deque[tuple[Work, tuple[Any, ...]]] = deque()
        self._free_s = clock()
        """From this instant on, work that arrives while nothing waits is done at once."""
        self._has_turn = False

    def put(self, now_s: float, work: Work, *args: Any) -> None:
        """Does the work at once if the backlog has been idle, and otherwise soon."""
        if not self._waiting and now_s >= self._free_s:
            self._free_s = now_s + TURN_S
            work(*args)
            return
        self._waiting.append((work, args))
        if not self._has_turn:
            self._has_turn = True
            asyncio.get_running_loop().call_soon(self._turn)

    def follow(self, work: Work, *args: Any) -> None:
        """Work that results from other work: done at once if nothing else waits."""
        if self._waiting:
            self._waiting.append((work, args))
        else:
            work(*args)

    def clear(self) -> None:
        """Does all waiting work now, before whatever the caller does next."""
        while self._waiting:
            self._next()

    def _turn(self) -> None:
        self._free_s = end_s = self._clock() + TURN_S
        try:
            while self._waiting:
                self._next()
                if self._clock() >= end_s:
                    break
        finally:  # work that fails does not block the work after it
            self._has_turn = bool(self._waiting)
            if self._has_turn:
                asyncio.get_running_loop().call_soon(self._turn)

    def _next(self) -> None:
        work, args = self._waiting.popleft()
        work(*args)
