"""What was measured of an endpoint that may be slow: short loads, its own counts, its network, its log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from moonpad.values.records import as_dict


@dataclass(frozen=True, slots=True)
class LoadFigures:
    """What the client saw of a short load of so many streams at once. Medians over requests; seconds and tokens."""

    streams: int
    requests: int
    prompt_tokens: float
    ttft_s: float
    tpot_s: float | None
    output_tokens_per_s: float
    chunk_tokens: float
    """Tokens that came together in one chunk, on average."""


@dataclass(frozen=True, slots=True)
class ServerFigures:
    """What the engine counted over some seconds. None: not reported."""

    seconds: float
    running: float | None = None
    """Requests at once, the median."""
    waiting: float | None = None
    most_waiting: float | None = None
    kv_usage: float | None = None
    """The highest share of the KV cache in use."""
    preemptions: float | None = None
    prompt_tokens: float | None = None
    """Read meanwhile."""
    generation_tokens: float | None = None


@dataclass(frozen=True, slots=True)
class RequestFigures:
    """Means of the requests that the engine has ended, by its own clocks; seconds. None: not reported."""

    requests: int
    queued_s: float | None = None
    prefill_s: float | None = None
    decode_s: float | None = None
    between_tokens_s: float | None = None
    prompt_tokens: float | None = None
    prefix_hit_rate: float | None = None

    @property
    def whole_s(self) -> float | None:
        """From arrival to the last token; None where a part of it is not reported."""
        parts = (self.queued_s, self.prefill_s, self.decode_s)
        return None if None in parts else sum(part for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class SlowMark:
    """A line of the engine's log by which it says that it runs slower than it could."""

    line: int
    text: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class SlowFacts:
    """None, or "unknown" with a reason in `unknown`, is what could not be had.

    users: requests of the users before this load, by the engine. own: those of this load alone.
    idle: before the load; loaded: during it.
    connect_s: a TCP connection; answer_s: `/health` over a new connection.
    tokenize: tokens of a long prompt, and the seconds that the server took to count them.
    busy: share of time in which the devices worked, while several streams were answered.
    held_back: what keeps the devices slow, in words.
    """

    alone: LoadFigures
    together: LoadFigures
    long: LoadFigures | None = None
    users: RequestFigures | None = None
    own: RequestFigures | None = None
    idle: ServerFigures | None = None
    loaded: ServerFigures | None = None
    connect_s: float | None = None
    answer_s: float | None = None
    tokenize: tuple[int, float] | None = None
    busy: float | None = None
    held_back: tuple[str, ...] = ()
    marks: tuple[SlowMark, ...] | None = None
    unknown: tuple[tuple[str, str], ...] = ()
    """(what, why): `("devices", "the endpoint is on another machine")`."""

    def as_json(self) -> dict[str, Any]:
        return {**as_dict(self), "unknown": dict(self.unknown)}

    def why_unknown(self, name: str) -> str:
        return dict(self.unknown).get(name, "not reported")
