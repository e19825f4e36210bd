"""The load past which more does not pay, and why, from what client and server measured at each level. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from moonpad.bench.lenient_json import number_at

LEAST_GAIN: Final = 0.10
"""A step that brings less throughput than this is past the knee."""
TTFT_LEAP: Final = 2.0
"""So is one whose time to first token grows by more than this times the load's own growth."""
FULL: Final = 0.90
"""Share of the KV cache above which the engine holds requests back or preempts them."""


@dataclass(frozen=True, slots=True)
class Level:
    """One point of a sweep. None: not reported."""

    load: int
    output_throughput: float
    mean_ttft_ms: float | None
    mean_tpot_ms: float | None
    running_max: float | None = None
    waiting_median: float | None = None
    kv_usage_max: float | None = None
    preemptions: float | None = None
    client_bound: bool = False


@dataclass(frozen=True, slots=True)
class Knee:
    """It lies between two levels. `signs`: what changed there; `cause`: why; `remedy`: what to change."""

    below: int
    above: int
    signs: tuple[str, ...]
    cause: str
    remedy: str


def level_of(load: int, document: Mapping[str, Any]) -> Level:
    """From a result with the keys of `vllm bench serve`, and ours where there are any."""
    ours = document.get("moonpad") or {}
    server = ours.get("server") or {}
    return Level(
        load=load,
        output_throughput=document["output_throughput"],
        mean_ttft_ms=document.get("mean_ttft_ms"),
        mean_tpot_ms=document.get("mean_tpot_ms"),
        running_max=number_at(server, "running", "max"),
        waiting_median=number_at(server, "waiting", "median"),
        kv_usage_max=number_at(server, "kv_usage", "max"),
        preemptions=server.get("preemptions"),
        client_bound=bool((ours.get("client") or {}).get("client_bound")),
    )


def find_knee(levels: Sequence[Level]) -> Knee | None:
    """The first step past which load does not pay; None where every step does."""
    for below, above in pairwise(sorted(levels, key=lambda level: level.load)):
        if signs := _signs(below, above):
            return Knee(below.load, above.load, signs, *_cause(below, above))
    return None


def _signs(below: Level, above: Level) -> tuple[str, ...]:
    signs = []
    gain = above.output_throughput / below.output_throughput - 1 if below.output_throughput > 0 else 0.0
    if gain < LEAST_GAIN:
        signs.append(f"output throughput {gain:+.0%}")
    if below.mean_ttft_ms and above.mean_ttft_ms:
        leap = above.mean_ttft_ms / below.mean_ttft_ms
        if leap > TTFT_LEAP * above.load / below.load:
            signs.append(f"mean TTFT × {leap:.1f}")
    if (above.waiting_median or 0) >= 1 > (below.waiting_median or 0):
        signs.append(f"{above.waiting_median:g} requests wait in the server")
    return tuple(signs)


def _cause(below: Level, above: Level) -> tuple[str, str]:
    """The cause and the remedy."""
    if above.client_bound:
        return "the client is at its limit, not the server", "add --workers, or lower the load"
    if above.running_max is None or above.waiting_median is None:
        return "unknown: the server reports no queue", "make /metrics reachable (some engines need an option for it)"
    if above.waiting_median >= 1 and above.running_max < above.load:
        stuck = f"running stays at {above.running_max:g} while {above.waiting_median:g} wait"
        if (above.kv_usage_max or 0) >= FULL or (above.preemptions or 0) > 0:
            full = f"the KV cache is full ({above.kv_usage_max or 0:.0%}, {above.preemptions or 0:g} preemptions)"
            return f"{full}: {stuck}", "a larger KV cache, or shorter contexts: moonpad plan"
        return f"{stuck}, at {above.kv_usage_max or 0:.0%} of the KV cache: max_num_seqs is reached", (
            f"raise max_num_seqs above {above.running_max:g} where memory allows, or keep clients at {below.load}"
        )
    slower = above.mean_tpot_ms / below.mean_tpot_ms if above.mean_tpot_ms and below.mean_tpot_ms else None
    longer = f", and a token takes {slower:.1f} times as long" if slower else ""
    return f"all {above.load} run at once{longer}: the device is at its limit", f"keep clients at {below.load}"
