"""How late the client's event loop wakes up: a client without processor time also reads late."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from moonpad.load.event_loop import in_background

EVERY_S: Final = 0.02


class LoopLag:
    """`late_s`: how long after its instant each wake-up came."""

    def __init__(self) -> None:
        self.late_s = array("d")

    @property
    def p99_s(self) -> float:
        """For 99 % of the time the loop was no later than this: a pause of 2 s counts as 100 wake-ups, not as one."""
        left_s = 0.01 * (sum(self.late_s) + EVERY_S * len(self.late_s))
        for late_s in sorted(self.late_s, reverse=True):
            left_s -= late_s + EVERY_S
            if left_s < 0:
                return late_s
        return 0.0

    @property
    def longest_s(self) -> float:
        return max(self.late_s, default=0.0)


@asynccontextmanager
async def watch_lag(clock: Callable[[], float]) -> AsyncIterator[LoopLag]:
    """Wakes up fifty times a second as long as the block lasts."""
    lag = LoopLag()
    async with in_background(_watch(lag, clock)):
        yield lag


async def _watch(lag: LoopLag, clock: Callable[[], float]) -> None:
    while True:
        due_s = clock() + EVERY_S
        await asyncio.sleep(EVERY_S)
        lag.late_s.append(max(0.0, clock() - due_s))
