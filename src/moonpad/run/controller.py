"""The controller of a run: a child of the keeper that makes the decisions, and owns nothing.

    python -P -m moonpad.run.controller RUN_DIR NAME

It decides when the engine is ready, stable, hung or failed, and when it is restarted; the keeper carries that out. It
can be killed at any instant: the next one goes on from `events.jsonl` and `keeper.json` alone. It applies
`run/restart_policy.py` to what `run/generation_monitor.py` sees.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moonpad.engines import ENGINES
from moonpad.engines.router_programs import ROUTERS
from moonpad.facts.processes import read_boot_id, read_start
from moonpad.run.controller_state import ControllerJournal, ControllerState, write_controller
from moonpad.run.endpoints import endpoint_of, keyless_endpoint_of
from moonpad.run.generation_monitor import GenerationMonitor, MonitoredRun, Watchable, Watched, World
from moonpad.run.keeper.state_file import has_keeper
from moonpad.run.restart_policy import restart_delay_s, restarts_within
from moonpad.store.run_folder import RunFolder
from moonpad.store.safe_streams import guard_streams
from moonpad.values.errors import ContactLost, PreflightRefused
from moonpad.values.supervision import Policy, State
from moonpad.values.units import duration

STOPPING_POLL_S = 0.2
WAITING_POLL_S = 0.5
KEY_RETRY_S = 10.0


@dataclass(frozen=True, slots=True)
class Decision:
    """After the engine has ended: a restart at `due_s`, or, where that is None, the end of the run."""

    due_s: float | None
    reason: str


def _watched_of(about: dict[str, Any]) -> Watchable:
    """Of a run with a router: the router's log, and the metrics of the copies."""
    engine = ENGINES[str(about.get("engine"))]
    router = about.get("router")
    return Watched(ROUTERS[router["name"]].log, engine.metrics) if router else engine


class Controller:
    """One run's decisions, a `tick` at a time."""

    def __init__(self, folder: RunFolder, world: World | None = None) -> None:
        about = folder.about()
        self._folder = folder
        self._world = world or World()
        self._watched = _watched_of(about)
        self._policy = Policy.of(about.get("policy") or {})
        self._journal = ControllerJournal(folder, self._world.clock)
        self._identity = os.getpid(), read_start(os.getpid()), read_boot_id()
        self._written: ControllerState | None = None
        self._generation = 0
        self._monitor: GenerationMonitor | None = None
        self._key_due_s = 0.0
        self._decision: Decision | None = None
        self._seen: dict[str, Any] = {}
        self._start_sent = False
        self._restarts = sum(event.get("event") == "restarting" for event in self._journal.events())

    def run(self) -> None:
        """Until the run ends, or its keeper is gone."""
        while (pause_s := self.tick()) is not None:
            self._world.sleep(pause_s)

    def tick(self) -> float | None:
        """One look at everything; how long to sleep until the next one, None where there is nothing more to do."""
        self._journal.flush()
        recorded = self._folder.keeper()
        if not has_keeper(recorded):
            return None
        recorded = self._refresh(recorded)
        generation, state = int(recorded["generation"]), str(recorded["state"])
        monitor = self._follow(generation)
        if state == "running":
            pause_s = monitor.step()
        else:
            monitor.read_last_lines()
            if state in (State.STOPPED, State.FAILED):
                return None
            pause_s = STOPPING_POLL_S if state == "stopping" else self._wait(str(recorded.get("because", "")))
        self._write(monitor, waits=state == "waiting")
        return pause_s

    def _refresh(self, recorded: dict[str, Any]) -> dict[str, Any]:
        """The keeper's own answer where its file may be old, since a full disk keeps it from writing. It is asked only
        when needed: each request wakes it."""
        old = int(recorded["generation"]) < self._generation
        doubt = self._monitor is None or self._start_sent or self._monitor.unreachable
        if old or doubt:
            try:
                self._seen = {**recorded, **self._world.tell(self._folder, "status")}
            except ContactLost:
                self._seen = self._seen if old else recorded
        else:
            self._seen = recorded
        return self._seen

    def _follow(self, generation: int) -> GenerationMonitor:
        """The monitor of the generation; a new one too where the key could not be read, and now can."""
        monitor = self._monitor if generation == self._generation else None
        now_s = self._world.clock()
        if monitor is not None and (not monitor.run.keyless or now_s < self._key_due_s):
            return monitor
        self._key_due_s = now_s + KEY_RETRY_S
        run = self._monitored_run()
        if monitor is not None and run.keyless:
            return monitor
        if monitor is None:
            self._generation, self._decision, self._start_sent = generation, None, False
        self._monitor = GenerationMonitor(run, generation, self._journal, self._world)
        return self._monitor

    def _monitored_run(self) -> MonitoredRun:
        engine = self._watched
        try:
            return MonitoredRun(self._folder, engine, endpoint_of(self._folder), self._policy)
        except PreflightRefused as error:
            # Still useful: the log, `/health` and `/metrics` need no key.
            why = "; ".join(finding.message for finding in error.findings) or error.message
            endpoint = keyless_endpoint_of(self._folder)
            return MonitoredRun(self._folder, engine, endpoint, self._policy, f"no token can be requested: {why}")

    # - an engine that has ended -

    def _wait(self, because: str) -> float:
        """The keeper waits for a decision: it is made once, written down, and sent when it is due."""
        if self._decision is None:
            self._decision = self._recall() or self._decide(because)
        if self._decision.due_s is None:
            self._tell("end", reason=self._decision.reason)
            return WAITING_POLL_S
        left_s = self._decision.due_s - self._world.clock()
        if left_s > 0:
            return min(left_s, WAITING_POLL_S)
        self._tell("start")
        self._start_sent = True  # even if the answer was lost: from now on the keeper is asked for its state
        return STOPPING_POLL_S

    def _recall(self) -> Decision | None:
        """The decision that an earlier controller has written down for this end."""
        for event in self._journal.events():
            if event.get("generation") != self._generation:
                continue
            if event.get("event") == "giving_up":
                return Decision(None, str(event["reason"]))
            if event.get("event") == "restarting":
                return Decision(event["t_s"] + event["delay_s"], str(event["reason"]))
        return None

    def _decide(self, because: str) -> Decision:
        now_s = self._world.clock()
        restarts = [event["t_s"] for event in self._journal.events() if event.get("event") == "restarting"]
        delay_s = restart_delay_s(self._policy, restarts, now_s)
        within = restarts_within(self._policy, restarts, now_s)
        if delay_s is None:
            window = duration(self._policy.restart_window_s)
            reason = f"{because}; given up after {within} restart{'s' * (within != 1)} within {window}"
            self._journal.append("giving_up", reason=reason, generation=self._generation)
            return Decision(None, reason)
        self._restarts += 1
        counts = {"restart": within + 1, "of": self._policy.restarts, "generation": self._generation}
        self._journal.append("restarting", reason=because, delay_s=delay_s, **counts)
        return Decision(now_s + delay_s, because)

    def _tell(self, do: str, **fields: str) -> bool:
        try:
            return bool(self._world.tell(self._folder, do, **fields).get("ok"))
        except ContactLost:
            return False  # it is sent again at the next tick, where the keeper still waits

    # - the controller's own file -

    def _write(self, monitor: GenerationMonitor, *, waits: bool) -> None:
        state, because = monitor.state, monitor.because
        if waits and self._decision is not None:
            restarts = self._decision.due_s is not None
            state, because = State.STARTING, ("waiting to be restarted: " if restarts else "") + self._decision.reason
        wanted = ControllerState(*self._identity, self._generation, state, because, monitor.stable, self._restarts)
        if wanted != self._written:
            with suppress(OSError):  # a full disk: it is written at a later tick
                write_controller(self._folder, wanted)
                self._written = wanted


def main(argv: list[str]) -> int:
    """`argv` is RUN_DIR NAME."""
    # The keeper handles a terminal's Ctrl-C and hang-up, and then ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    guard_streams()
    run_dir, name = argv
    Controller(RunFolder(name, Path(run_dir))).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
