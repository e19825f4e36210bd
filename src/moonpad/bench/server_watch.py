"""The server's own metrics during a run: running and waiting requests, KV cache, preemptions, prefix hits."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from moonpad.bench.sampling import KeepSample, RunZero, sample_every
from moonpad.engines import ENGINES
from moonpad.engines.base import MetricNames
from moonpad.facts.probe import Unknown
from moonpad.load.event_loop import in_background
from moonpad.observe.metrics import EngineLoad, ask_load
from moonpad.values.endpoint import Endpoint

EVERY_S: Final = 0.5
SELDOM_S: Final = 5.0
MOST_SHARE: Final = 0.01
"""Share of the time that the server may spend on writing metrics: vLLM does it in the process that streams answers."""
LIMIT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Sample:
    """`at_s`: seconds since the run began, when the answer was asked for."""

    at_s: float
    load: EngineLoad

    def as_json(self) -> dict[str, Any]:
        return {"at_s": round(self.at_s, 3), **asdict(self.load)}


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
    endpoint: Endpoint, clock: Callable[[], float], zero: RunZero, keep: KeepSample, every_s: float = EVERY_S
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
    names: MetricNames | None = None
    while names is None:
        names, stats.why_not = await asyncio.to_thread(_names, endpoint)
        if names is None:
            await asyncio.sleep(10 * every_s)
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


def _names(endpoint: Endpoint) -> tuple[MetricNames | None, str]:
    """Those of the engine, or of an unknown one the first that the endpoint has; or None, and why."""
    engine = ENGINES.get(endpoint.engine)
    why = ""
    for names in (engine.metrics,) if engine else dict.fromkeys(each.metrics for each in ENGINES.values()):
        load = ask_load(endpoint, names, LIMIT_S)
        if not isinstance(load, Unknown):
            return names, ""
        why = load.reason
    return None, why
