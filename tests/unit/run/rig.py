"""A keeper, an engine and a clock of our own, for the controller: whole histories in no time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from moonpad.facts.probe import Unknown
from moonpad.facts.processes import read_boot_id, read_start
from moonpad.observe.metrics import EngineLoad
from moonpad.observe.readiness import ProbeAnswer
from moonpad.run.controller import Controller
from moonpad.run.controller_state import ControllerState, read_controller
from moonpad.run.generation_monitor import World
from moonpad.store.run_folder import RunFolder
from moonpad.values.endpoint import Endpoint
from moonpad.values.errors import ContactLost
from moonpad.values.records import as_dict
from moonpad.values.supervision import Policy

NOBODY = ProbeAnswer(None, "connection refused")
HEALTHY = ProbeAnswer(200, "")
SICK = ProbeAnswer(503, "")
TOKEN = ProbeAnswer(200, '{"choices": [{}]}')
IN_VAIN = ProbeAnswer(None, "timed out", timed_out=True)
SHARDS = "Loading safetensors checkpoint shards: {:3d}% Completed | 1/1 [00:00<00:00, 1.00it/s]\n"

POLICY = Policy(start_timeout_s=60.0)


class Killed(BaseException):
    """SIGKILL, at a moment that a test chooses."""


@dataclass
class Engine:
    """One generation, by its age. Each may be replaced by a test."""

    load_s: float = 3.0
    health: Callable[[float], ProbeAnswer] = lambda age_s: HEALTHY
    token: Callable[[float], ProbeAnswer] = lambda age_s: TOKEN
    token_s: float = 0.25
    metrics: Callable[[float], EngineLoad | Unknown] = lambda age_s: EngineLoad(0.0, 0.0, 0.0, 0.0, 0.0)
    dies_at_s: float = float("inf")


@dataclass
class Rig:
    """A run folder with a keeper in it that does what the real one promises (run/keeper.py)."""

    folder: RunFolder
    engine: Callable[[int], Engine] = lambda generation: Engine()
    now: float = 1000.0
    state: str = "running"
    because: str = ""
    generation: int = 0
    was_ready: bool = False
    begun: float = 0.0
    requests: list[tuple[float, str, dict[str, Any]]] = field(default_factory=list)
    probes: list[str] = field(default_factory=list)
    deaf_until: float = 0.0
    writes_keeper_json: bool = True
    said_percents: set[tuple[int, int]] = field(default_factory=set)
    calls: int = 0
    kill_at: frozenset[int] = frozenset()
    undead: bool = False
    alive: Controller | None = None

    def prepare(self, policy: Policy, engine: str = "vllm-cpu", **about: object) -> None:
        self.folder.write_about(
            base_url="http://127.0.0.1:1/v1", served_name="kimi", engine=engine, policy=as_dict(policy), **about
        )
        self.start()

    # - the keeper -

    def event(self, event: str, **fields: object) -> None:
        with self.folder.events_path.open("a") as file:
            file.write(json.dumps({"event": event, "t_s": self.now, **fields}) + "\n")

    def start(self) -> None:
        self.generation += 1
        self.begun, self.state, self.because, self.was_ready = self.now, "running", "its processes run", False
        self.folder.log_path.write_text("")
        self.event("spawned", process="vllm", pid=1, generation=self.generation)
        self.write()

    def end(self, because: str, *, final: bool) -> None:
        self.state, self.because = "failed" if final or not self.was_ready else "waiting", because
        self.event("failed" if self.state == "failed" else "ended", reason=because, generation=self.generation)
        self.write()

    def write(self) -> None:
        if not self.writes_keeper_json:
            return
        document = {
            "schema": 2,
            "state": self.state,
            "because": self.because,
            "boot_id": read_boot_id(),
            "keeper": {"pid": os.getpid(), "start": read_start(os.getpid())},
            "generation": self.generation,
        }
        (self.folder.path / "keeper.json").write_text(json.dumps(document))

    def tell(self, folder: RunFolder, do: str, timeout_s: float = 5.0, **fields: Any) -> dict[str, Any]:
        self.maybe_kill()
        if self.now < self.deaf_until:
            raise ContactLost("the keeper does not answer")
        if do != "status":
            self.requests.append((self.now, do, fields))
        answer = self.obey(do, fields)
        self.maybe_kill()
        return answer

    def obey(self, do: str, fields: dict[str, Any]) -> dict[str, Any]:
        running, waiting = self.state == "running", self.state == "waiting"
        if do == "status":
            return {"ok": True, "state": self.state, "because": self.because, "generation": self.generation, "pid": 1}
        if do == "ready" and running and fields["generation"] == self.generation:
            self.was_ready = True
        elif do in ("fail", "cycle") and running:
            self.end(fields["reason"], final=do == "fail")
        elif do == "start" and waiting:
            self.start()
        elif do == "end" and waiting:
            self.end(fields["reason"], final=True)
        else:
            return {"ok": False, "why": "not now"}
        return {"ok": True}

    # - the engine -

    @property
    def age(self) -> float:
        return self.now - self.begun

    @property
    def present(self) -> Engine:
        return self.engine(self.generation)

    @property
    def listens(self) -> bool:
        return self.undead or (self.state == "running" and self.present.load_s <= self.age < self.present.dies_at_s)

    def health(self, endpoint: Endpoint, timeout_s: float) -> ProbeAnswer:
        self.maybe_kill()
        self.probes.append("health")
        return self.present.health(self.age) if self.listens else NOBODY

    def token(self, endpoint: Endpoint, timeout_s: float) -> ProbeAnswer:
        self.probes.append("token")
        return self.present.token(self.age) if self.listens else NOBODY

    def load(self, endpoint: Endpoint, names: object, timeout_s: float) -> EngineLoad | Unknown:
        self.maybe_kill()
        self.probes.append("load")
        return self.present.metrics(self.age) if self.listens else Unknown("/metrics: connection refused")

    def begin(self, ask: Callable[[], tuple[ProbeAnswer, float]]) -> Callable[[], tuple[ProbeAnswer, float] | None]:
        """What a token takes: `token_s`, and one that times out the time that it was given."""
        answer, _ = ask()
        asked_at = self.now
        due = asked_at + (15.0 if answer.timed_out else self.present.token_s)
        return lambda: (answer, self.now - asked_at) if self.now >= due else None

    # - time -

    def sleep(self, seconds: float) -> None:
        self.maybe_kill()
        self.now += seconds
        if self.state != "running":
            return
        for percent in (0, 40, 100):
            if self.age >= self.present.load_s * percent / 100 and (self.generation, percent) not in self.said_percents:
                self.said_percents.add((self.generation, percent))
                with self.folder.log_path.open("a") as log:
                    log.write(SHARDS.format(percent))
        if self.age >= self.present.dies_at_s:
            self.end("vllm ended: exit 1", final=False)

    def maybe_kill(self) -> None:
        self.calls += 1
        if self.calls in self.kill_at:
            raise Killed

    # - the controller -

    def controller(self) -> Controller:
        return Controller(
            self.folder,
            World(
                clock=lambda: self.now,
                sleep=self.sleep,
                health=self.health,
                token=self.token,
                load=self.load,
                tell=self.tell,
                begin=self.begin,
                ours=lambda *_: True,
            ),
        )

    def run(self, until_s: float) -> None:
        """Until that age of the whole history; the controller is started again a second after each kill."""
        until = 1000.0 + until_s
        while self.now < until:
            try:
                self.alive = self.alive or self.controller()
                pause_s = self.alive.tick()
                if pause_s is None:
                    return
                self.sleep(pause_s)
            except Killed:
                self.alive = None
                self.now += 1.0

    @property
    def events(self) -> list[dict[str, Any]]:
        """Of the controller alone."""
        return [event for event in self.folder.events() if event["event"] not in ("spawned", "ended", "failed")]

    @property
    def names(self) -> list[str]:
        return [event["event"] for event in self.events]

    def times(self, name: str) -> list[float]:
        return [event["t_s"] - 1000.0 for event in self.folder.events() if event["event"] == name]

    def one_event(self, name: str) -> dict[str, Any]:
        (event,) = [event for event in self.events if event["event"] == name]
        return event

    @property
    def told_words(self) -> list[str]:
        return [do for _, do, _ in self.requests]

    @property
    def written(self) -> ControllerState:
        state = read_controller(self.folder)
        assert state is not None
        return state


def hanging(after_s: float = 20.0, running: float = 3.0) -> Engine:
    """Fault 9: `/health` answers 200 whatever happens."""
    return Engine(
        metrics=lambda age_s: EngineLoad(running, 1.0, 0.5, min(age_s, after_s), 10.0),
        token=lambda age_s: TOKEN if age_s < after_s else IN_VAIN,
    )
