"""What the devices did during a run, where they are this machine's: power, use, memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from ipaddress import ip_address
from statistics import fmean
from typing import Any, Final
from urllib.parse import urlsplit

from moonpad.bench.server_watch import Keep, Zero
from moonpad.facts.device import DeviceUse
from moonpad.facts.device_use import device_use
from moonpad.facts.probe import Unknown
from moonpad.values.endpoint import Endpoint

EVERY_S: Final = 1.0
LIMIT_S: Final = 5.0
Ask = Callable[[float], "tuple[DeviceUse, ...] | Unknown"]


@dataclass(slots=True)
class DevicesDid:
    """`samples`: seconds since the run began, and what each device did then. `why_not`: why there is none."""

    samples: list[tuple[float, tuple[DeviceUse, ...]]] = field(default_factory=list)
    why_not: str = ""

    def as_json(self) -> dict[str, Any]:
        """`power_w` is of all devices together; `busy` their mean."""
        if not self.samples:
            return {"samples": 0, "why_not": self.why_not}
        powers = [sum(known) for _, uses in self.samples if (known := _known(use.power_w for use in uses))]
        busy = [fmean(known) for _, uses in self.samples if (known := _known(use.busy for use in uses))]
        used = [max(known) for _, uses in self.samples if (known := _known(use.used_bytes for use in uses))]
        return {
            "samples": len(self.samples),
            "count": max(len(uses) for _, uses in self.samples),
            "power_w": {"mean": fmean(powers), "max": max(powers)} if powers else None,
            "busy": {"mean": fmean(busy), "max": max(busy)} if busy else None,
            "most_used_bytes": max(used) if used else None,
        }


@asynccontextmanager
async def devices_watched(
    endpoint: Endpoint,
    clock: Callable[[], float],
    zero: Zero,
    keep: Keep,
    *,
    ask: Ask = device_use,
    every_s: float = EVERY_S,
) -> AsyncIterator[DevicesDid]:
    """As `watched`; nobody is asked where the endpoint is on another machine."""
    did = DevicesDid()
    if not _is_here(endpoint):
        did.why_not = "the endpoint is on another machine"
        yield did
        return
    task = asyncio.create_task(_watch(clock, zero, keep, ask, every_s, did))
    try:
        yield did
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _watch(clock: Callable[[], float], zero: Zero, keep: Keep, ask: Ask, every_s: float, did: DevicesDid) -> None:
    """A tool that is not there, or fails, is asked once."""
    origin_s = await zero()
    await asyncio.sleep(max(0.0, origin_s - clock()))
    while True:
        at_s = clock() - origin_s
        uses = await asyncio.to_thread(ask, LIMIT_S)
        if isinstance(uses, Unknown):
            did.why_not = uses.reason
            return
        did.samples.append((at_s, uses))
        keep({"at_s": round(at_s, 3), "devices": [asdict(use) for use in uses]})
        await asyncio.sleep(max(0.0, at_s + every_s - (clock() - origin_s)))


def _is_here(endpoint: Endpoint) -> bool:
    host = urlsplit(endpoint.base_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _known(values: Iterator[float | None] | Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]
