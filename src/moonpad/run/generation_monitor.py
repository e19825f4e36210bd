"""Follows one generation of the engine from its start to its end, for the controller."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from moonpad.engines.base import MetricNames
from moonpad.engines.log_grammar import LogGrammar, Progress
from moonpad.facts.ports import listens
from moonpad.facts.probe import Unknown
from moonpad.facts.processes import find_descendants
from moonpad.observe.log_tail import LogTail
from moonpad.observe.metrics import EngineLoad, ask_load
from moonpad.observe.readiness import ProbeAnswer, ask_health, ask_one_token
from moonpad.observe.start_progress import (
    Begin,
    FirstTokenRefused,
    Healthy,
    Ready,
    Sign,
    StartOverdue,
    StartWatch,
    Timed,
    in_thread,
)
from moonpad.run.controller_state import ControllerJournal
from moonpad.run.keeper_client import tell
from moonpad.run.restart_policy import Recovered, StableWatch, Stalled, StallWatch
from moonpad.store.run_folder import RunFolder
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost
from moonpad.values.records import as_dict
from moonpad.values.supervision import Policy, State

STARTING_POLL_S = 0.1
TOKEN_POLL_S = 0.05
DECIDED_POLL_S = 0.5
READY_POLL_S = (0.2, 1.0)
"""The least and the most between two looks at a ready engine: a fifth of the shortest time limit of its policy."""
ASK_LIMIT_S = 5.0


def is_ours(folder: RunFolder, endpoint: Endpoint) -> bool:
    """Whether what listens on the endpoint's port is a process of the run: while an engine loads, another program may
    take its port. By parentage, since on a full disk the keeper's file is old: the keeper is our parent, and the
    engine's. A container's port belongs to its daemon, and only one container can have published it."""
    if folder.about().get("container"):
        return True
    return listens(find_descendants({os.getppid()}), urlsplit(endpoint.base_url).port or 80)


@dataclass(frozen=True, slots=True)
class World:
    """What the controller touches beside the run folder, so that a test can be all of it."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    health: Callable[[Endpoint, float], ProbeAnswer] = ask_health
    token: Callable[[Endpoint, float], ProbeAnswer] = ask_one_token
    load: Callable[[Endpoint, MetricNames, float], EngineLoad | Unknown] = ask_load
    tell: Callable[..., dict[str, Any]] = tell
    begin: Begin = in_thread
    ours: Callable[[RunFolder, Endpoint], bool] = is_ours


class Watchable(Protocol):
    """What of a program its monitor has to know."""

    @property
    def log(self) -> LogGrammar: ...
    @property
    def metrics(self) -> MetricNames: ...


@dataclass(frozen=True, slots=True)
class Watched:
    """`Watchable` of two sources."""

    log: LogGrammar
    metrics: MetricNames


@dataclass(frozen=True, slots=True)
class MonitoredRun:
    """`keyless` says why the endpoint cannot be asked for a token; "" where it can."""

    folder: RunFolder
    engine: Watchable
    endpoint: Endpoint
    policy: Policy
    keyless: str = ""


@dataclass(slots=True)
class KeeperRequest:
    """What the keeper is to do. It is repeated until the keeper has accepted it."""

    do: str
    fields: Mapping[str, object] = field(default_factory=dict)
    accepted: bool = False


class GenerationMonitor:
    """One `step` at a time. What an earlier controller did before it was killed is read from the events of the
    generation: nothing is written, counted or decided a second time."""

    def __init__(self, run: MonitoredRun, generation: int, journal: ControllerJournal, world: World) -> None:
        self.run = run
        self._generation = generation
        self._journal = journal
        self._world = world
        self.state = State.STARTING
        self.because = ""
        self.unreachable = False
        """Whether the last probe got no HTTP answer at all: the keeper may know why."""
        self._request: KeeperRequest | None = None
        self._ready: KeeperRequest | None = None
        self._canary: Callable[[], Timed | None] | None = None
        self._health = ""
        self._set_phase("starting")
        self._recall()

    @property
    def stable(self) -> bool:
        return self._stable.stable

    def _recall(self) -> None:
        now_s = self._world.clock()
        past = self._journal.events_of(self._generation)
        last = {str(event.get("event")): event for event in past}
        self._phases = {_key(event) for event in past if event.get("event") == "phase"}
        self._was_healthy = "healthy" in last
        begun_s = min((float(event["t_s"]) for event in past), default=now_s)
        run, world = self.run, self._world
        self._start = StartWatch(
            LogTail(run.folder.log_path),
            run.engine.log,
            self._first_health,
            None if run.keyless else lambda limit_s: world.token(run.endpoint, limit_s),
            begun_s,
            run.policy.start_timeout_s,
            world.clock,
            world.begin,
        )
        hung = next((event for event in reversed(past) if event.get("event") in ("stalled", "recovered")), None)
        stalled = hung is not None and hung["event"] == "stalled"
        self._stall = StallWatch(self.run.policy, stalled=stalled)
        self._stable = StableWatch(self.run.policy, now_s, stable="stable" in last)
        if given_up := last.get("refused") or last.get("overdue"):
            self._give_up(str(given_up.get("reason") or "it was never ready"))
        elif "ready" in last:
            self._become_ready()
            self._ready = KeeperRequest("ready", {"generation": self._generation})
        if hung is not None and stalled:
            self._become_stalled(str(hung.get("reason", "")))

    def step(self) -> float:
        """One look at everything; how long to sleep until the next one."""
        pause_s = self._look_at_start() if self.state is State.STARTING else self._look_at_engine()
        for request in (self._ready, self._request):
            if request is not None and not request.accepted:
                self._send(request)
        return pause_s

    def read_last_lines(self) -> None:
        """The engine has ended, or is being stopped: the phases that its log still reports."""
        if self.state is State.STARTING:
            for progress in self._start.read():
                self._note_phase(progress)

    # - starting -

    def _look_at_start(self) -> float:
        if self._request is not None:
            return DECIDED_POLL_S
        for sign in self._start.look():
            self._take(sign)
        return TOKEN_POLL_S if self._start.asking else STARTING_POLL_S

    def _take(self, sign: Sign) -> None:
        match sign:
            case Progress():
                self._note_phase(sign)
            case Healthy():
                if not self._was_healthy:
                    self._journal.append("healthy")
                self._set_phase("healthy, and asked for its first token")
            case Ready(token_s, asked_s):
                # The keeper first: it may know that the engine has died since, and readers of the event rely on it.
                self._ready = KeeperRequest("ready", {"generation": self._generation, "asked_s": asked_s})
                if self._send(self._ready) is not False:
                    self._become_ready()
                    self._journal.append(
                        "ready", token_s=round(token_s, 4), seen_by="controller", generation=self._generation
                    )
                else:
                    self._ready = None
            case FirstTokenRefused(answer):
                why = f"{answer.status or 'no answer'}: {answer.text[:300]}"
                reason = f"{self.run.endpoint.health_path} answered 200, and the first real request failed ({why})"
                self._journal.append("refused", answer=why, reason=reason)
                self._give_up(reason)
            case StartOverdue(budget_s):
                reason = f"not ready after {budget_s:.0f} s, the last phase was: {self._start.phase}"
                self._journal.append("overdue", budget_s=budget_s, reason=reason)
                self._give_up(reason)

    def _note_phase(self, progress: Progress) -> None:
        self._set_phase(self._start.phase)
        event = {"phase": progress.phase, "percent": progress.percent, **progress.figures}
        if _key(event) not in self._phases:
            self._phases.add(_key(event))
            self._journal.append("phase", **event)

    def _set_phase(self, phase: str) -> None:
        keyless = self.run.keyless
        self.because = f"{phase}; {keyless}" if keyless else phase

    def _become_ready(self) -> None:
        self.state = State.READY
        self.because = "one real token came back"
        self._stable = StableWatch(self.run.policy, self._world.clock(), stable=self._stable.stable)

    def _give_up(self, reason: str) -> None:
        """A first start that fails is final. After a generation that was ready it is an end like any other, of which
        the policy allows a number."""
        was_ready = any(
            event.get("event") == "ready" and int(event.get("generation") or 1) < self._generation
            for event in self._journal.events()
        )
        self.because = reason
        self._request = KeeperRequest("cycle" if was_ready else "fail", {"reason": reason})

    # - ready -

    def _look_at_engine(self) -> float:
        limit_s, policy = ASK_LIMIT_S, self.run.policy
        self._collect_canary()
        answer = self._world.health(self.run.endpoint, limit_s)
        self.unreachable = answer.status is None
        self._health = "" if answer.ok else f"{self.run.endpoint.health_path}: {answer.text[:200] or answer.status}"
        if event := self._stable.take(self._world.clock(), answer.ok):
            self._journal.append(event, **({"reason": self._health} if event == "unhealthy" else {}))
        sample = self._world.load(self.run.endpoint, self.run.engine.metrics, limit_s)
        now_s = self._world.clock()
        self._note_change(self._stall.take(now_s, sample))
        if self._canary is None and not self.run.keyless and self._stall.canary_due(now_s):
            self._send_canary(now_s)
        if self.state is State.READY:
            blind = self.run.keyless or self._stall.blind
            self.because = self._health or f"{self.run.endpoint.health_path} answers 200"
            self.because += f"; hangs cannot be detected: {blind}" if blind else ""
        least, most = READY_POLL_S
        return min(most, max(least, min(policy.stall_after_s, policy.min_healthy_s) / 5))

    def _send_canary(self, now_s: float) -> None:
        world, endpoint, limit_s = self._world, self.run.endpoint, self.run.policy.stall_probe_s

        def ask() -> Timed:
            begun = world.clock()
            return world.token(endpoint, limit_s), world.clock() - begun

        self._stall.canary_sent(now_s)
        self._canary = world.begin(ask)

    def _collect_canary(self) -> None:
        if self._canary is not None and (result := self._canary()) is not None:
            self._canary = None
            self._note_change(self._stall.take_canary(self._world.clock(), result[0]))

    def _note_change(self, change: Stalled | Recovered | None) -> None:
        if isinstance(change, Stalled):
            self._journal.append("stalled", **as_dict(change))
            self._become_stalled(change.reason)
        elif isinstance(change, Recovered):
            self._journal.append("recovered", reason=change.reason)
            self.state = State.READY
            if self._request is not None and not self._request.accepted:
                self._request = None

    def _become_stalled(self, reason: str) -> None:
        self.state = State.STALLED
        self.because = reason
        if self.run.policy.restart_on_stall:
            self._request = KeeperRequest("cycle", {"reason": reason})

    # - to the keeper -

    def _send(self, request: KeeperRequest) -> bool | None:
        """Whether the keeper does it; None where it did not answer, and is asked again at the next step."""
        try:
            request.accepted = bool(self._world.tell(self.run.folder, request.do, **request.fields).get("ok"))
        except ContactLost:
            return None
        return request.accepted

    def _first_health(self, limit_s: float) -> ProbeAnswer:
        answer = self._world.health(self.run.endpoint, limit_s)
        if answer.ok and not self._world.ours(self.run.folder, self.run.endpoint):
            self._set_phase(f"{self._start.phase}; another program answers at {self.run.endpoint.base_url}")
            return ProbeAnswer(None, "another program answers there")
        return answer


def _key(event: Mapping[str, object]) -> str:
    """What makes two `phase` events the same."""
    fields = {name: value for name, value in event.items() if name not in ("event", "t_s", "at")}
    return json.dumps(fields, sort_keys=True)
