"""Reads that have their timestamp and were not looked at yet.

When many answers come at once, what takes time is not to read them but to parse their heads and ends. Meanwhile the
next reads would wait for their timestamp; so that work is done in short turns, and between two of them whatever has
come is read.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

TURN_S: Final = 0.0005
Clock = Callable[[], float]
Take = Callable[[float, bytes], None]


class Backlog:
    """In the order in which they came."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: deque[tuple[Take, float, bytes]] = deque()
        self._has_turn = False

    def put(self, take: Take, now_s: float, data: bytes) -> None:
        """`take` gets the instant and the bytes, soon."""
        self._waiting.append((take, now_s, data))
        if not self._has_turn:
            self._has_turn = True
            asyncio.get_running_loop().call_soon(self._turn)

    def clear(self) -> None:
        """Does all of it now: something else must not come before it."""
        while self._waiting:
            self._next()

    def _turn(self) -> None:
        end_s = self._clock() + TURN_S
        while self._waiting:
            self._next()
            if self._clock() >= end_s:
                break
        self._has_turn = bool(self._waiting)
        if self._has_turn:
            asyncio.get_running_loop().call_soon(self._turn)

    def _next(self) -> None:
        take, now_s, data = self._waiting.popleft()
        take(now_s, data)
