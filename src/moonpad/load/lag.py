"""How late the client's own loop is: a client that is not let run reads late too, whatever its own work takes."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from moonpad.stats.percentiles import percentile

EVERY_S: Final = 0.02


class Lag:
    """`late_s`: of each wake, how long after its instant it came."""

    def __init__(self) -> None:
        self.late_s = array("d")

    @property
    def p99_s(self) -> float:
        return percentile(sorted(self.late_s), 99.0) if self.late_s else 0.0


@asynccontextmanager
async def lag_watched(clock: Callable[[], float]) -> AsyncIterator[Lag]:
    """Wakes fifty times a second as long as the block lasts."""
    lag = Lag()
    task = asyncio.create_task(_watch(lag, clock))
    try:
        yield lag
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _watch(lag: Lag, clock: Callable[[], float]) -> None:
    while True:
        due_s = clock() + EVERY_S
        await asyncio.sleep(EVERY_S)
        lag.late_s.append(max(0.0, clock() - due_s))
