"""What is sampled during a run: the server's metrics; power, utilisation and memory of this machine's devices."""

from __future__ import annotations

import asyncio
import statistics
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from itertools import chain
from typing import Any, Final
from urllib.parse import urlsplit

from moonpad.engines import ENGINES
from moonpad.engines.base import MetricNames
from moonpad.facts.device import DeviceUse
from moonpad.facts.devices import device_use
from moonpad.facts.probe import Unknown
from moonpad.load.event_loop import in_background
from moonpad.observe.metrics import EngineLoad, ask_load, ask_metrics, engine_of, read_load
from moonpad.values.endpoint import Endpoint
from moonpad.values.records import as_dict

SERVER_EVERY_S: Final = 0.5
SELDOM_S: Final = 5.0
MOST_SHARE: Final = 0.01
"""Share of the time that the server may spend on writing metrics: vLLM does it in the process that streams answers."""
DEVICES_EVERY_S: Final = 1.0
LIMIT_S: Final = 5.0
RunZero = Callable[[], Awaitable[float]]
"""The instant of a run's zero, as soon as it is known."""
KeepSample = Callable[[dict[str, Any]], None]
"""Takes a sample as it comes, as JSON."""
AskDevices = Callable[[float], "tuple[DeviceUse, ...] | Unknown"]


@dataclass(frozen=True, slots=True)
class Sample:
    """`at_s`: seconds since the run began, when the answer was asked for."""

    at_s: float
    load: EngineLoad

    def as_json(self) -> dict[str, Any]:
        return {"at_s": round(self.at_s, 3), **as_dict(self.load)}


@dataclass(slots=True)
class ServerStats:
    """`why_not`: why there are no samples."""

    samples: list[Sample] = field(default_factory=list)
    why_not: str = ""

    def highest(self, name: str) -> float | None:
        """None where it was never reported."""
        return max(self._values(name), default=None)

    def median(self, name: str) -> float | None:
        """None where it was never reported."""
        values = self._values(name)
        return statistics.median(values) if values else None

    def growth(self, name: str) -> float | None:
        """How much a counter grew from the first sample to the last; None where it was not reported twice."""
        values = self._values(name)
        return values[-1] - values[0] if len(values) > 1 and values[-1] >= values[0] else None

    @property
    def prefix_hit_rate(self) -> float | None:
        hits, queries = self.growth("prefix_hits"), self.growth("prefix_queries")
        return hits / queries if hits is not None and queries else None

    def as_json(self) -> dict[str, Any]:
        if not self.samples:
            return {"samples": 0, "why_not": self.why_not}
        gauges = ("running", "waiting", "kv_usage")
        return {
            "samples": len(self.samples),
            **{name: {"median": self.median(name), "max": self.highest(name)} for name in gauges},
            "preemptions": self.growth("preemptions"),
            "prefix_hit_rate": self.prefix_hit_rate,
        }

    def _values(self, name: str) -> Sequence[float]:
        return [value for sample in self.samples if (value := getattr(sample.load, name)) is not None]


@asynccontextmanager
async def watch_server(
    endpoint: Endpoint, clock: Callable[[], float], zero: RunZero, keep: KeepSample, every_s: float = SERVER_EVERY_S
) -> AsyncIterator[ServerStats]:
    """Asks `/metrics` from the run's zero to the end of the block, in a thread, so that the loop that takes timestamps
    is free. Samples are at least a hundred times as far apart as one takes, up to `SELDOM_S`.
    """
    stats = ServerStats()
    async with in_background(_watch(endpoint, clock, zero, keep, every_s, stats)):
        yield stats


async def _watch(
    endpoint: Endpoint, clock: Callable[[], float], zero: RunZero, keep: KeepSample, every_s: float, stats: ServerStats
) -> None:
    while isinstance(names := await asyncio.to_thread(_names, endpoint), Unknown):
        stats.why_not = names.reason
        await asyncio.sleep(10 * every_s)
    stats.why_not = ""
    begun_s = clock()  # before the load, when an answer takes only what it costs
    await asyncio.to_thread(ask_load, endpoint, names, LIMIT_S)
    every_s = max(every_s, min((clock() - begun_s) / MOST_SHARE, SELDOM_S))

    async def take(at_s: float) -> bool:
        load = await asyncio.to_thread(ask_load, endpoint, names, LIMIT_S)
        if isinstance(load, EngineLoad):
            stats.samples.append(Sample(at_s, load))
            keep(stats.samples[-1].as_json())
        return True

    await sample_every(every_s, clock, zero, take)


def _names(endpoint: Endpoint) -> MetricNames | Unknown:
    """Those of the engine, or of an unknown one the first that the endpoint has."""
    body = ask_metrics(endpoint, LIMIT_S)
    if isinstance(body, Unknown):
        return body
    names = (engine_of(endpoint.engine, body) or next(iter(ENGINES.values()))).metrics
    load = read_load(body, names)
    return load if isinstance(load, Unknown) else names


@dataclass(slots=True)
class DeviceStats:
    """`samples`: (seconds since the run began, use of each device). `why_not`: why there are no samples."""

    samples: list[tuple[float, tuple[DeviceUse, ...]]] = field(default_factory=list)
    why_not: str = ""

    def as_json(self) -> dict[str, Any]:
        """`power_w` is of all devices together; `busy` their mean; `throttled`: by what holds clocks back, the share of
        the samples in which it did so on any device, and None where no device reports it."""
        if not self.samples:
            return {"samples": 0, "why_not": self.why_not}
        powers = [sum(values) for values in self._reported("power_w")]
        busy = [statistics.fmean(values) for values in self._reported("busy")]
        return {
            "samples": len(self.samples),
            "count": max(len(uses) for _, uses in self.samples),
            "power_w": {"mean": statistics.fmean(powers), "max": max(powers)} if powers else None,
            "busy": {"mean": statistics.fmean(busy), "max": max(busy)} if busy else None,
            "most_used_bytes": max(map(max, self._reported("used_bytes")), default=None),
            "throttled": self._throttled(),
        }

    def _throttled(self) -> dict[str, float] | None:
        said = self._reported("throttled_by")
        counts = Counter(words for reasons in said for words in set(chain(*reasons)))
        return {words: count / len(said) for words, count in counts.most_common()} if said else None

    def _reported(self, name: str) -> list[list[Any]]:
        """The reported values of each sample; samples without any are left out."""
        samples = ([getattr(use, name) for use in uses if getattr(use, name) is not None] for _, uses in self.samples)
        return [values for values in samples if values]


@asynccontextmanager
async def watch_devices(
    endpoint: Endpoint,
    clock: Callable[[], float],
    zero: RunZero,
    keep: KeepSample,
    *,
    ask: AskDevices = device_use,
    every_s: float = DEVICES_EVERY_S,
) -> AsyncIterator[DeviceStats]:
    """As `watch_server`; nothing is sampled where the endpoint is on another machine."""
    stats = DeviceStats()
    if not is_here(endpoint):
        stats.why_not = "the endpoint is on another machine"
        yield stats
        return

    async def take(at_s: float) -> bool:
        uses = await asyncio.to_thread(ask, LIMIT_S)
        if isinstance(uses, Unknown):  # the tool is missing or fails: it is not asked again
            stats.why_not = uses.reason
            return False
        stats.samples.append((at_s, uses))
        keep({"at_s": round(at_s, 3), "devices": [as_dict(use) for use in uses]})
        return True

    async with in_background(sample_every(every_s, clock, zero, take)):
        yield stats


def is_here(endpoint: Endpoint) -> bool:
    host = urlsplit(endpoint.base_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def sample_every(
    every_s: float, clock: Callable[[], float], zero: RunZero, take: Callable[[float], Awaitable[bool]]
) -> None:
    """From the run's zero on, `take(seconds since then)`, until it gives False."""
    origin_s = await zero()
    await asyncio.sleep(max(0.0, origin_s - clock()))
    while await take(at_s := clock() - origin_s):
        await asyncio.sleep(max(0.0, at_s + every_s - (clock() - origin_s)))
