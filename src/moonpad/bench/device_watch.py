"""Power, utilisation and memory of this machine's devices during a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from ipaddress import ip_address
from statistics import fmean
from typing import Any, Final
from urllib.parse import urlsplit

from moonpad.bench.sampling import KeepSample, RunZero, sample_every
from moonpad.facts.device import DeviceUse
from moonpad.facts.devices import device_use
from moonpad.facts.probe import Unknown
from moonpad.load.event_loop import in_background
from moonpad.values.endpoint import Endpoint

EVERY_S: Final = 1.0
LIMIT_S: Final = 5.0
Ask = Callable[[float], "tuple[DeviceUse, ...] | Unknown"]


@dataclass(slots=True)
class DeviceStats:
    """`samples`: seconds since the run began, and each device's use then. `why_not`: why there are none."""

    samples: list[tuple[float, tuple[DeviceUse, ...]]] = field(default_factory=list)
    why_not: str = ""

    def as_json(self) -> dict[str, Any]:
        """`power_w` is of all devices together; `busy` their mean."""
        if not self.samples:
            return {"samples": 0, "why_not": self.why_not}
        powers = [sum(reported) for _, uses in self.samples if (reported := _reported(use.power_w for use in uses))]
        busy = [fmean(reported) for _, uses in self.samples if (reported := _reported(use.busy for use in uses))]
        used = [max(reported) for _, uses in self.samples if (reported := _reported(use.used_bytes for use in uses))]
        return {
            "samples": len(self.samples),
            "count": max(len(uses) for _, uses in self.samples),
            "power_w": {"mean": fmean(powers), "max": max(powers)} if powers else None,
            "busy": {"mean": fmean(busy), "max": max(busy)} if busy else None,
            "most_used_bytes": max(used) if used else None,
        }


@asynccontextmanager
async def watch_devices(
    endpoint: Endpoint,
    clock: Callable[[], float],
    zero: RunZero,
    keep: KeepSample,
    *,
    ask: Ask = device_use,
    every_s: float = EVERY_S,
) -> AsyncIterator[DeviceStats]:
    """As `watch_server`; nothing is sampled where the endpoint is on another machine."""
    stats = DeviceStats()
    if not _is_here(endpoint):
        stats.why_not = "the endpoint is on another machine"
        yield stats
        return

    async def take(at_s: float) -> bool:
        uses = await asyncio.to_thread(ask, LIMIT_S)
        if isinstance(uses, Unknown):  # the tool is missing or fails: it is not asked again
            stats.why_not = uses.reason
            return False
        stats.samples.append((at_s, uses))
        keep({"at_s": round(at_s, 3), "devices": [asdict(use) for use in uses]})
        return True

    async with in_background(sample_every(every_s, clock, zero, take)):
        yield stats


def _is_here(endpoint: Endpoint) -> bool:
    host = urlsplit(endpoint.base_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _reported(values: Iterator[float | None] | Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]
