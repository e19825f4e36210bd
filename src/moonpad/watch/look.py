"""What one endpoint and its host showed at one moment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from moonpad.facts.device import DeviceUse
from moonpad.facts.probe import Unknown
from moonpad.observe.histograms import Histogram
from moonpad.observe.metrics import EngineLoad
from moonpad.values.supervision import State


@dataclass(frozen=True, slots=True)
class RunFigures:
    """Of a run of ours. `generation` counts the starts, from 1. `restarted_s`: how long ago the last restart was;
    None without one. `log_path`: the engine's log on this host. `kv_tokens_planned` and `_measured`: capacity of the KV
    cache; None where it is not known."""

    state: State
    because: str
    generation: int = 1
    restarts: int = 0
    restarted_s: float | None = None
    stable: bool = False
    kv_tokens_planned: float | None = None
    kv_tokens_measured: float | None = None
    spec: str = ""
    log_path: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """The answer of `/health`. `status` None: none came, and `text` says why."""

    status: int | None
    text: str = ""
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """`at_s` is a monotonic clock. `run` None: not a run of ours. `devices` None: they are not on this host.
    `trouble`: why the run's files could not be read, "" where they could."""

    at_s: float
    name: str
    url: str
    engine: str
    health: Health
    load: EngineLoad | Unknown
    times: Mapping[str, Histogram] = field(default_factory=dict)
    run: RunFigures | None = None
    devices: tuple[DeviceUse, ...] | Unknown | None = None
    log: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def down_on_purpose(self) -> bool:
        """It was stopped, or it is about to be there: that it does not answer is as it should be."""
        return self.run is not None and self.run.state in (State.STOPPED, State.STARTING)

    def figure(self, name: str) -> float | None:
        """A field of the load; None where it is unknown."""
        value: Any = None if isinstance(self.load, Unknown) else getattr(self.load, name)
        return value if isinstance(value, float | int) else None


def growth(looks: Sequence[Look], name: str) -> float | None:
    """How much a counter grew over the looks that report it, through restarts of the engine, where it begins at 0
    again; None with fewer than two of them."""
    values = [value for look in looks if (value := look.figure(name)) is not None]
    if len(values) < 2:
        return None
    return math.fsum(now - then if now >= then else now for then, now in pairwise(values))
