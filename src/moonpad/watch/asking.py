"""Asks endpoints and this host, each in a thread with a deadline: what hangs is shown as such and holds nothing up.

Only `/health` and `/metrics` are asked, never a token: no request of a user waits for the watch.
"""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

from moonpad.engines import ENGINES
from moonpad.facts.device import DeviceUse
from moonpad.facts.devices import device_use
from moonpad.facts.probe import Unknown
from moonpad.observe.histograms import Histogram, read_histograms
from moonpad.observe.log_tail import last_lines
from moonpad.observe.metrics import EngineLoad, ask_metrics, engine_of, read_load
from moonpad.observe.readiness import ask_health
from moonpad.run.endpoints import keyless_endpoint_of
from moonpad.run.planned_figures import kv_tokens_measured, planned_of
from moonpad.run.run_status import read_status
from moonpad.store.run_folder import RunFolder, current_run
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import MoonpadError
from moonpad.values.records import replace
from moonpad.watch.look import Health, Look, RunFigures

T = TypeVar("T")

LIMIT_S: Final = 2.0
"""For all answers of one look."""
ANSWER_S: Final = 0.8
"""For each answer of an engine; the keeper's and the files have the rest."""
DEVICES_EVERY_S: Final = 10.0
DEVICES_SELDOM_S: Final = 60.0
DEVICES_SHARE: Final = 0.005
"""A vendor's tool may run for this share of the time: one that takes half a second is asked each minute at most."""
LOG_LINES: Final = 3
LOG_READ: Final = 60
"""Lines looked through for them."""
_OWN: Final = re.compile(r'"GET /(?:health|metrics)\b')
WINDOW_S: Final = 60.0
"""Quantiles, preemptions and alerts are of the last minute."""
NO_ANSWER: Final = "no answer within {:.0f} s"


@dataclass(frozen=True, slots=True)
class Target:
    """`run`: the run's name; "" for an endpoint that is known by its address alone. `here`: on this host."""

    endpoint: Endpoint
    run: str = ""
    here: bool = False

    @property
    def name(self) -> str:
        return self.run or self.endpoint.root_url


class _Question(Generic[T]):
    """One question in a thread that does not hold up the end of the program."""

    def __init__(self, ask: Callable[[], T]) -> None:
        self._answer: T | None = None
        self._done = threading.Event()
        threading.Thread(target=self._run, args=(ask,), daemon=True).start()

    def _run(self, ask: Callable[[], T]) -> None:
        try:
            self._answer = ask()
        finally:
            self._done.set()

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def wait(self, seconds: float) -> T | None:
        """None where there is no answer yet, or asking failed."""
        self._done.wait(max(0.0, seconds))
        return self._answer if self.done else None


class Watch:
    """The looks at some endpoints over the last minute. One question to each is open at a time: an endpoint that hangs
    costs one thread."""

    def __init__(
        self,
        targets: Sequence[Target],
        *,
        limit_s: float = LIMIT_S,
        clock: Callable[[], float] = time.monotonic,
        ask_target: Callable[[Target, float], Look] | None = None,
        ask_devices: Callable[[float], tuple[DeviceUse, ...] | Unknown] = device_use,
    ) -> None:
        self.targets = tuple(targets)
        self.looks: tuple[deque[Look], ...] = tuple(deque() for _ in self.targets)
        self._limit_s, self._clock = limit_s, clock
        self._ask_target, self._ask_devices = ask_target or look_at, ask_devices
        self._open: list[_Question[Look] | None] = [None] * len(self.targets)
        self._devices: tuple[DeviceUse, ...] | Unknown = Unknown("not asked yet")
        self._device_question: _Question[tuple[DeviceUse, ...] | Unknown] | None = None
        self._devices_at_s, self._devices_every_s = float("-inf"), DEVICES_EVERY_S

    def look(self) -> None:
        """Adds one look at each endpoint to `looks`, after `limit_s` at most, and forgets those older than a minute."""
        begun_s = self._clock()
        until_s = time.monotonic() + self._limit_s
        self._begin_devices(begun_s)
        for at, target in enumerate(self.targets):
            question = self._open[at]
            if question is None or question.done:  # what came after its look was over is old
                self._open[at] = _Question(lambda target=target: self._ask_target(target, begun_s))  # type: ignore[misc]
        for at, target in enumerate(self.targets):
            question = self._open[at]
            look = question.wait(until_s - time.monotonic()) if question else None
            if question and question.done:
                self._open[at] = None
            self._keep(at, look or _hangs(target, begun_s, self._limit_s))
        self._end_devices(until_s)
        for target, looks in zip(self.targets, self.looks, strict=True):
            if target.here:
                looks[-1] = replace(looks[-1], devices=self._devices)

    def _keep(self, at: int, look: Look) -> None:
        looks = self.looks[at]
        looks.append(look)
        while look.at_s - looks[0].at_s > WINDOW_S:
            looks.popleft()

    def _begin_devices(self, now_s: float) -> None:
        due = now_s - self._devices_at_s >= self._devices_every_s
        if self._device_question is None and due and any(target.here for target in self.targets):
            self._devices_at_s = now_s
            self._device_question = _Question(self._timed_devices)

    def _timed_devices(self) -> tuple[DeviceUse, ...] | Unknown:
        begun_s = self._clock()
        uses = self._ask_devices(DEVICES_EVERY_S)
        took_s = self._clock() - begun_s
        self._devices_every_s = min(DEVICES_SELDOM_S, max(DEVICES_EVERY_S, took_s / DEVICES_SHARE))
        return uses

    def _end_devices(self, until_s: float) -> None:
        if self._device_question is None:
            return
        uses = self._device_question.wait(until_s - time.monotonic())
        if self._device_question.done:
            self._device_question = None
            self._devices = Unknown("the tool failed") if uses is None else uses
        elif self._clock() - self._devices_at_s > self._limit_s:
            self._devices = Unknown(NO_ANSWER.format(self._limit_s))


def _hangs(target: Target, at_s: float, limit_s: float) -> Look:
    why = NO_ANSWER.format(limit_s)
    endpoint = target.endpoint
    health = Health(None, why, timed_out=True)
    return Look(at_s, target.name, endpoint.root_url, endpoint.engine, health, Unknown(why), trouble=why)


def look_at(target: Target, at_s: float) -> Look:
    """Never raises what a broken endpoint or run folder could cause."""
    folder = current_run(target.run) if target.run else None
    endpoint, run, trouble = target.endpoint, None, ""
    log: tuple[str, ...] = ()
    if folder is not None:
        try:
            endpoint = replace(keyless_endpoint_of(folder), key=target.endpoint.key)
            run, log = _run_figures(folder, endpoint), log_lines(folder.log_path)
        except (MoonpadError, OSError, LookupError, ValueError) as error:
            trouble = f"the run's files cannot be read: {str(error)[:200] or type(error).__name__}"
    answer = ask_health(endpoint, ANSWER_S)
    body = ask_metrics(endpoint, ANSWER_S) if answer.status is not None else Unknown(answer.text)
    found = None if isinstance(body, Unknown) else engine_of(endpoint.engine, body)
    engine = endpoint.engine if endpoint.engine in ENGINES or found is None else found.api.key
    load: EngineLoad | Unknown = Unknown("/metrics has none of the names of an engine that is known")
    load = body if isinstance(body, Unknown) else load
    times: Mapping[str, Histogram] = {}
    if found is not None and not isinstance(body, Unknown):
        load, times = read_load(body, found.metrics), read_histograms(body, found.metrics.times)
    health = Health(answer.status, answer.text[:200], answer.timed_out)
    return Look(at_s, target.name, endpoint.root_url, engine, health, load, times, run, None, log, trouble)


def log_lines(path: Path) -> tuple[str, ...]:
    """The last lines of an engine's log, without those in which it notes that it was asked how it does."""
    lines = [line for line in last_lines(path, LOG_READ) if not _OWN.search(line)]
    return tuple(lines[-LOG_LINES:])


def _run_figures(folder: RunFolder, endpoint: Endpoint) -> RunFigures:
    status = read_status(folder, None)
    restarting = folder.last_event("restarting") if status.restarts and status.up else None
    planned = next((figure for figure in planned_of(folder) if figure.name == "kv_tokens"), None)
    about = folder.about()
    return RunFigures(
        status.state,
        status.because,
        generation=int(folder.keeper().get("generation") or 1),
        restarts=status.restarts,
        restarted_s=None if restarting is None else max(0.0, time.monotonic() - float(restarting["t_s"])),
        stable=status.stable,
        kv_tokens_planned=planned.estimate.value if planned else None,
        kv_tokens_measured=planned.measured if planned else kv_tokens_measured(folder),
        spec=str(about.get("spec", "")),
        log_path=str(folder.log_path),
    )
