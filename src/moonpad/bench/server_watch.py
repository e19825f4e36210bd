"""What the server says of itself during a run: running, queue, KV cache, preemptions, prefix hits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Final

from moonpad.engines import ENGINES
from moonpad.engines.base import MetricNames
from moonpad.facts.probe import Unknown
from moonpad.observe.metrics import Load, ask_load
from moonpad.values.endpoint import Endpoint

EVERY_S: Final = 0.5
SELDOM_S: Final = 5.0
MOST_SHARE: Final = 0.01
"""Of the time, in which the server may write metrics for us: vLLM does it in the process that streams the answers."""
LIMIT_S: Final = 5.0
Zero = Callable[[], Awaitable[float]]
"""The instant of a run's zero, as soon as it is known."""
Keep = Callable[[dict[str, Any]], None]
"""Takes a sample as it comes, as JSON."""


@dataclass(frozen=True, slots=True)
class Sample:
    """`at_s`: seconds since the run began, when the answer was asked for."""

    at_s: float
    load: Load

    def as_json(self) -> dict[str, Any]:
        return {"at_s": round(self.at_s, 3), **asdict(self.load)}


@dataclass(slots=True)
class ServerSaid:
    """The samples as they came. `why_not`: why there is none."""

    samples: list[Sample] = field(default_factory=list)
    why_not: str = ""

    def most(self, name: str) -> float | None:
        """The largest value; None where it was never reported: never 0 for that."""
        return max(self._values(name), default=None)

    def usual(self, name: str) -> float | None:
        """The median."""
        values = self._values(name)
        return median(values) if values else None

    def grown(self, name: str) -> float | None:
        """How much a counter grew from the first sample to the last; None where it was not reported twice."""
        values = self._values(name)
        return values[-1] - values[0] if len(values) > 1 and values[-1] >= values[0] else None

    @property
    def prefix_hit_rate(self) -> float | None:
        hits, queries = self.grown("prefix_hits"), self.grown("prefix_queries")
        return hits / queries if hits is not None and queries else None

    def as_json(self) -> dict[str, Any]:
        if not self.samples:
            return {"samples": 0, "why_not": self.why_not}
        gauges = ("running", "waiting", "kv_usage")
        return {
            "samples": len(self.samples),
            **{name: {"median": self.usual(name), "max": self.most(name)} for name in gauges},
            "preemptions": self.grown("preemptions"),
            "prefix_hit_rate": self.prefix_hit_rate,
        }

    def _values(self, name: str) -> Sequence[float]:
        return [value for sample in self.samples if (value := getattr(sample.load, name)) is not None]


@asynccontextmanager
async def watched(
    endpoint: Endpoint, clock: Callable[[], float], zero: Zero, keep: Keep, every_s: float = EVERY_S
) -> AsyncIterator[ServerSaid]:
    """Asks `/metrics` from the run's zero on as long as the block lasts, in a thread: the loop that takes timestamps
    only waits for it. Each sample is kept as it comes. They are at least a hundred times as far apart as one takes, up
    to `SELDOM_S`.
    """
    said = ServerSaid()
    task = asyncio.create_task(_watch(endpoint, clock, zero, keep, every_s, said))
    try:
        yield said
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _watch(
    endpoint: Endpoint, clock: Callable[[], float], zero: Zero, keep: Keep, every_s: float, said: ServerSaid
) -> None:
    names: MetricNames | None = None
    while names is None:
        names, said.why_not = await asyncio.to_thread(_names, endpoint)
        if names is None:
            await asyncio.sleep(10 * every_s)
    asked_s = clock()  # before the load, when an answer takes what it costs
    await asyncio.to_thread(ask_load, endpoint, names, LIMIT_S)
    every_s = max(every_s, min((clock() - asked_s) / MOST_SHARE, SELDOM_S))
    origin_s = await zero()
    await asyncio.sleep(max(0.0, origin_s - clock()))
    while True:
        at_s = clock() - origin_s
        load = await asyncio.to_thread(ask_load, endpoint, names, LIMIT_S)
        if isinstance(load, Load):
            said.samples.append(Sample(at_s, load))
            keep(said.samples[-1].as_json())
        await asyncio.sleep(max(0.0, at_s + every_s - (clock() - origin_s)))


def _names(endpoint: Endpoint) -> tuple[MetricNames | None, str]:
    """The engine's, where it is known; otherwise those that the endpoint has."""
    known = ENGINES.get(endpoint.engine)
    engines = (known,) if known else tuple(ENGINES[name] for name in ("vllm", "sglang", "tensorrt-llm"))
    why = ""
    for engine in engines:
        load = ask_load(endpoint, engine.metrics, LIMIT_S)
        if not isinstance(load, Unknown):
            return engine.metrics, ""
        why = load.reason
    return None, why
