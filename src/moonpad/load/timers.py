"""Callbacks at given instants, all driven by one timer of the event loop."""

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
    """Callbacks run in the order of their instants, and those of the same instant in the order of `at`."""

    def __init__(self, clock: Clock, run_step: Callable[[Callable[[], None]], None]) -> None:
        """`run_step` calls each callback when it is due; the loop would only print what a callback raises."""
        self._clock, self._run_step = clock, run_step
        self._numbers = count()
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._timer: asyncio.TimerHandle | None = None

    def at(self, instant_s: float, step: Callable[[], None]) -> None:
        """Calls `step` at once if the instant has passed."""
        now_s = self._clock()
        if instant_s <= now_s:
            step()
            return
        first = not self._waiting or instant_s < self._waiting[0][0]
        heappush(self._waiting, (instant_s, next(self._numbers), step))
        if first:
            self._wake_in(instant_s - now_s)

    def forget(self) -> None:
        """Drops all callbacks that are waiting."""
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
            self._run_step(heappop(self._waiting)[2])
        if self._waiting and self._timer is None:
            self._wake_in(self._waiting[0][0] - self._clock())
