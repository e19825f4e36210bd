"""Something is sampled at even intervals beside a run: the server's metrics, the devices."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

RunZero = Callable[[], Awaitable[float]]
"""The instant of a run's zero, as soon as it is known."""
KeepSample = Callable[[dict[str, Any]], None]
"""Takes a sample as it comes, as JSON."""


async def sample_every(
    every_s: float, clock: Callable[[], float], zero: RunZero, take: Callable[[float], Awaitable[bool]]
) -> None:
    """From the run's zero on, `take(seconds since then)`, until it gives False."""
    origin_s = await zero()
    await asyncio.sleep(max(0.0, origin_s - clock()))
    while await take(at_s := clock() - origin_s):
        await asyncio.sleep(max(0.0, at_s + every_s - (clock() - origin_s)))
