"""Callbacks at given instants, all by one timer of the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Final

from moonpad.load.read_backlog import Clock

SOON_S: Final = 0.0005
"""The loop's timers have a resolution of a millisecond: they fire up to half a millisecond early or late."""


class Timers:
    """In the order of their instants; those of one instant in the order in which they were given."""

    def __init__(self, clock: Clock, does: Callable[[Callable[[], None]], None]) -> None:
        """`does` calls each callback when its instant comes; the loop would only print what that raises."""
        self._clock, self._does = clock, does
        self._numbers = count()
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._timer: asyncio.TimerHandle | None = None

    def at(self, instant_s: float, do: Callable[[], None]) -> None:
        """At once if the instant has passed."""
        now_s = self._clock()
        if instant_s <= now_s:
            do()
            return
        first = not self._waiting or instant_s < self._waiting[0][0]
        heappush(self._waiting, (instant_s, next(self._numbers), do))
        if first:
            self._wake_in(instant_s - now_s)

    def forget(self) -> None:
        """Drops all that is waiting."""
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _wake_in(self, wait_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(wait_s, self._wake)

    def _wake(self) -> None:
        self._timer = None
        by_s = self._clock() + SOON_S
        while self._waiting and self._waiting[0][0] <= by_s:
            self._does(heappop(self._waiting)[2])
        if self._waiting and self._timer is None:
            self._wake_in(self._waiting[0][0] - self._clock())
