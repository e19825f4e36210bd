"""Looks at a sound vLLM under load, one every two seconds, of which a test changes what it is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moonpad.observe.histograms import Histogram
from moonpad.observe.metrics import EngineLoad
from moonpad.values.records import replace
from moonpad.values.supervision import State
from moonpad.watch.look import Health, Look, RunFigures

INF = float("inf")
RUN = RunFigures(
    State.READY, "one real token came back; /health not checked", kv_tokens_planned=233016.0, spec="k.toml"
)


def sound(at: int) -> Look:
    """4 requests run, none waits for long; 100 tokens a second come out, and a request each second begins."""
    load = EngineLoad(
        running=4.0,
        waiting=float(at % 3 == 0),
        kv_usage=0.97,
        generation_tokens=1000.0 + 200 * at,
        prompt_tokens=5000.0 + 40 * at,
        preemptions=7.0,
        prefix_hits=100.0 + 10 * at,
        prefix_queries=5000.0 + 40 * at,
    )
    first = Histogram((0.1, 1.0, 10.0, INF), (10.0 + at, 20.0 + 2 * at, 20.0 + 2 * at, 20.0 + 2 * at))
    return Look(2.0 * at, "k", "http://127.0.0.1:8000", "vllm", Health(200), load, {"ttft": first}, RUN)


def looks(count: int = 30, change: Callable[[Look, int], Look] = lambda look, at: look) -> tuple[Look, ...]:
    return tuple(change(sound(at), at) for at in range(count))


def loaded(look: Look, **figures: Any) -> Look:
    assert isinstance(look.load, EngineLoad)
    return replace(look, load=replace(look.load, **figures))


def running(look: Look, **figures: Any) -> Look:
    assert look.run is not None
    return replace(look, run=replace(look.run, **figures))
