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
        """What comes at any instant waits no longer, with a probability of 99 %: a pause counts by its length,
        and what comes in the midst of it waits for the rest of it.
        """
        allowed_s = 0.01 * (sum(self.late_s) + EVERY_S * len(self.late_s))
        waits_s = total_s = 0.0
        for count, late_s in enumerate(sorted(self.late_s, reverse=True), 1):
            if late_s <= waits_s:
                break
            total_s += late_s
            waits_s = max(0.0, (total_s - allowed_s) / count)
        return waits_s

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
