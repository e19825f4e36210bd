"""From the looks at one endpoint to what is shown of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from moonpad.facts.device import DeviceUse
from moonpad.facts.probe import Unknown
from moonpad.observe.histograms import WATCHED, Histogram, as_json
from moonpad.values.records import as_dict
from moonpad.values.supervision import State
from moonpad.watch.alerts import Alert, Limits, alerts_of
from moonpad.watch.look import Look, growth

TITLES: Final[Mapping[str, str]] = {"ttft": "TTFT", "between_tokens": "ITL", "e2e": "E2E"}
JSON_NAMES: Final[Mapping[str, str]] = {"ttft": "ttft_s", "between_tokens": "itl_s", "e2e": "e2e_s"}


@dataclass(frozen=True, slots=True)
class Latency:
    """Of the requests of the last `over_s` seconds; None: no request ended in them, so of all since the engine's
    start."""

    histogram: Histogram
    over_s: float | None


@dataclass(frozen=True, slots=True)
class View:
    """None wherever the engine does not report a figure, or one look is not enough for it. `preemptions`,
    `prefix_hit_rate` and `acceptance` (of drafted tokens) are of the window; the two rates are from 0 to 1."""

    name: str
    url: str
    engine: str
    state: str
    because: str
    generation: int | None
    restarts: int | None
    running: float | None
    waiting: float | None
    kv_usage: float | None
    kv_tokens_planned: float | None
    kv_tokens_measured: float | None
    input_tokens_per_s: float | None
    output_tokens_per_s: float | None
    latencies: Mapping[str, Latency]
    preemptions: float | None
    prefix_hit_rate: float | None
    acceptance: float | None
    window_s: float
    devices: tuple[DeviceUse, ...]
    why_no_devices: str
    why_no_load: str
    log: tuple[str, ...]
    alerts: tuple[Alert, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("name", "url", "engine", "state", "because", "generation")},
            **{name: getattr(self, name) for name in ("restarts", "running", "waiting", "kv_usage")},
            "kv_tokens": {"planned": self.kv_tokens_planned, "measured": self.kv_tokens_measured},
            "tokens_per_s": {"in": _rounded(self.input_tokens_per_s), "out": _rounded(self.output_tokens_per_s)},
            "latency": {
                JSON_NAMES[field]: as_json(latency.histogram, latency.over_s)
                for field, latency in self.latencies.items()
            },
            "window_s": round(self.window_s, 3),
            "preemptions": self.preemptions,
            "prefix_hit_rate": _rounded(self.prefix_hit_rate, 4),
            "speculative_acceptance": _rounded(self.acceptance, 4),
            "devices": [as_dict(use) for use in self.devices],
            "not_reported": {
                name: why for name, why in (("load", self.why_no_load), ("devices", self.why_no_devices)) if why
            },
            "log": list(self.log),
            "alerts": [alert.as_json() for alert in self.alerts],
        }


def make_view(looks: Sequence[Look], limits: Limits = Limits()) -> View:
    """`looks` at one endpoint, the oldest first, of at most a window; at least one. Rates are between the last two
    that reported a load."""
    now = looks[-1]
    before = next((look for look in reversed(looks[:-1]) if not isinstance(look.load, Unknown)), None)
    state, because = state_of(now)
    run, uses = now.run, now.devices
    return View(
        name=now.name,
        url=now.url,
        engine=now.engine,
        state=state,
        because=because,
        generation=run.generation if run else None,
        restarts=run.restarts if run else None,
        running=now.figure("running"),
        waiting=now.figure("waiting"),
        kv_usage=now.figure("kv_usage"),
        kv_tokens_planned=run.kv_tokens_planned if run else None,
        kv_tokens_measured=run.kv_tokens_measured if run else None,
        input_tokens_per_s=_rate(before, now, "prompt_tokens"),
        output_tokens_per_s=_rate(before, now, "generation_tokens"),
        latencies={field: _latency(looks, field) for field in WATCHED if field in now.times},
        preemptions=growth(looks, "preemptions"),
        prefix_hit_rate=_share(looks, "prefix_hits", "prefix_queries"),
        acceptance=_share(looks, "accepted", "drafted"),
        window_s=now.at_s - looks[0].at_s,
        devices=uses if isinstance(uses, tuple) else (),
        why_no_devices=uses.reason if isinstance(uses, Unknown) else "",
        why_no_load=now.load.reason if isinstance(now.load, Unknown) else "",
        log=now.log,
        alerts=alerts_of(looks, limits),
    )


def state_of(look: Look) -> tuple[str, str]:
    """Of a run of ours what `moonpad status` says; of another endpoint what `/health` answers."""
    if look.run is not None:
        if look.run.state is State.READY and look.health.status != 200:
            why = look.health.text if look.health.status is None else f"it answers {look.health.status}"
            return ("slow answer" if look.health.timed_out else "no answer"), f"was ready, and /health: {why}"
        return str(look.run.state), look.run.because.replace("; /health not checked", "")
    if look.trouble:
        return "unknown", look.trouble
    if look.health.status is None:
        return "no answer", f"/health: {look.health.text or 'no answer'}"
    return ("answers" if look.health.status == 200 else "unhealthy"), f"/health answers {look.health.status}"


def _rate(before: Look | None, now: Look, name: str) -> float | None:
    if before is None or now.at_s <= before.at_s:
        return None
    grown = growth((before, now), name)
    return None if grown is None else grown / (now.at_s - before.at_s)


def _latency(looks: Sequence[Look], field: str) -> Latency:
    now = looks[-1].times[field]
    first = next((look for look in looks[:-1] if field in look.times), None)
    if first is not None:
        window = now.since(first.times[field])
        if window.count > 0:
            return Latency(window, looks[-1].at_s - first.at_s)
    return Latency(now, None)


def _share(looks: Sequence[Look], part: str, whole: str) -> float | None:
    """Of the window; where `whole` did not grow in it, of all since the engine's start."""
    some, every = growth(looks, part), growth(looks, whole)
    if not every:
        some, every = looks[-1].figure(part), looks[-1].figure(whole)
    return some / every if some is not None and every else None


def _rounded(value: float | None, digits: int = 2) -> float | None:
    return None if value is None else round(value, digits)
