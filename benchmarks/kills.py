"""kill -9 of each process of an endpoint, and what becomes of the rest: the real vLLM on the CPU, tensor parallel 2.

    python -m benchmarks.kills --engine real --times 10 --out benchmarks/results/kills.json
    python -m benchmarks.kills --engine fake --times 10 --out benchmarks/results/kills_fake.json

API server, engine core, a worker, the keeper, the controller; no restarts, so an end is final. `status --json` is asked
all the time, and judged by looks of our own before and after it (tests/faults/oracle.py, agreement.py): a lie is a row
that cannot be true, a late one may be true until the tool notices. Times count from the kill, on one clock:

- detected_s   the first event that tells of it (`died`, `stopping`, `ended`, `failed`, `controller_ended`)
- gone_s       the last process of the engine has ended
- true_s       `status` says what is so, and goes on saying so
- clean_s      the first look that found no process of the run, keeper and controller neither, and its port closed; for
               the keeper, counted from `moonpad down`
- left         what lives, listens, is locked or lies in /dev/shm or /tmp at the end and did not before the start

Where we may have mounts of our own, /dev/shm and /tmp are empty ones, so that what is counted is ours. A controller is
killed again and again on one engine, which must live on, and a new one must come. OUT is written after each kind of
victim; those that a run does not kill stay in it.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.stage import Stage, about, write
from moonpad.facts.processes import PR_SET_CHILD_SUBREAPER, set_process_option
from tests.faults import agreement, forked, machine, mounts, oracle
from tests.faults.agreement import Look
from tests.faults.oracle import FINAL, Run

VICTIMS = oracle.VICTIMS[:-1]
TELLS = ("died", "stopping", "ended", "failed", "stopped", "controller_ended")
CLEAN_LIMIT_S = 60.0
CONTROLLER_LIMIT_S = 90.0
UNATTENDED_S = 3.0
"""How long a run without its keeper is watched before `down`."""


@dataclass
class Watched:
    """What `status` said since a kill: each state with when it was first said, the lies, and how long it was late."""

    begun: float
    states: list[tuple[float, str]] = field(default_factory=list)
    status_calls: int = 0
    lies: list[str] = field(default_factory=list)
    late_until_s: float = 0.0

    def ask(self, stage: Stage) -> tuple[dict[str, Any], Look]:
        before = agreement.look_at(stage.run())
        row = stage.row()
        after = agreement.look_at(stage.run())
        self.status_calls += 1
        now_s = time.monotonic() - self.begun
        if not self.states or self.states[-1][1] != row["state"]:
            self.states.append((round(now_s, 3), row["state"]))
        if complaint := agreement.complaint_of(row, before, after):
            if complaint.grace:
                self.late_until_s = now_s
            else:
                self.lies.append(complaint.text)
        return row, after

    def until(self, stage: Stage, holds: Callable[[dict[str, Any], Look], bool], limit_s: float) -> float:
        """Seconds since the kill; -1 where it did not come about."""
        while True:
            row, look = self.ask(stage)
            passed_s = time.monotonic() - self.begun
            if holds(row, look):
                return round(passed_s, 3)
            if passed_s > limit_s:
                return -1.0

    @property
    def noticed_s(self) -> float:
        """When `status` first said something else than ready."""
        return next((seconds for seconds, state in self.states if state != "ready"), -1.0)

    def as_json(self) -> dict[str, Any]:
        return {
            "states": self.states,
            "status_asked": self.status_calls,
            "status_lies": self.lies,
            "true_s": round(self.late_until_s, 3),
        }


def leftovers() -> set[str]:
    """What lies where engines leave things."""
    return {str(path) for folder in (mounts.SHARED_MEMORY, Path(tempfile.gettempdir())) for path in folder.iterdir()}


def left_of(stage: Stage, before: set[str], *, isolated: bool) -> list[str]:
    """At the end: one sentence each."""
    oracle.reap()
    living = oracle.below({os.getpid()}, oracle.processes()).values()
    remaining = [f"process {process.pid} {process.name} {process.command[:80]}" for process in living]
    if oracle.served(stage.port):
        remaining.append(f"port {stage.port} is served")
    remaining += [f"{path} is there" for path in stage.state.glob("endpoints/*.lock")]
    remaining += [f"{path} is there" for path in sorted(leftovers() - before) if isolated or "moonpad" in path]
    return remaining


class Deaths(threading.Thread):
    """When the last of these processes has ended, to the millisecond."""

    def __init__(self, pids: list[int]) -> None:
        super().__init__(daemon=True)
        self.at: float | None = None
        self._handles = [os.pidfd_open(pid) for pid in pids]
        self.start()

    def run(self) -> None:
        waiting = list(self._handles)
        while waiting:
            ready, _, _ = select.select(waiting, [], [])
            waiting = [handle for handle in waiting if handle not in ready]
        self.at = time.monotonic()
        for handle in self._handles:
            os.close(handle)


def kill(stage: Stage, victim: str, number: int) -> tuple[int, float]:
    """(pid, the moment); of several of a kind they take turns."""
    targets = oracle.victims({"k": stage.run()}, victim)
    assert targets, f"there is no {victim}"
    pid = targets[number % len(targets)][1]
    killed = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    return pid, killed


def detected_s(stage: Stage, killed: float) -> tuple[str, float]:
    """The first event that tells of it."""
    detection = next((event for event in stage.events() if event["t_s"] >= killed and event["event"] in TELLS), None)
    return (detection["event"], round(detection["t_s"] - killed, 4)) if detection else ("", -1.0)


def trial(stage: Stage, victim: str, number: int, *, isolated: bool) -> dict[str, Any]:
    """One start, one kill, to the end."""
    before = leftovers()
    stage.up()
    engine = stage.run().engine
    deaths = Deaths([pid for pid, _ in engine])
    pid, killed = kill(stage, victim, number)
    seen = Watched(killed)
    table = oracle.processes
    if victim == "keeper":
        seen.until(stage, lambda row, look: time.monotonic() - killed > UNATTENDED_S, CLEAN_LIMIT_S)
        alive = sum(oracle.lives(process, table()) for process in engine)
        begun = time.monotonic()
        stage.down()
        clean_s = round(time.monotonic() - begun, 3) if stage.is_clean() else -1.0
        seen.ask(stage)
    else:
        alive = sum(oracle.lives(process, table()) for process in engine)
        clean_s = seen.until(stage, lambda row, look: look.run.ended and stage.is_clean(), CLEAN_LIMIT_S)
        seen.until(stage, lambda row, look: row["state"] in FINAL, CLEAN_LIMIT_S)
    # Nobody is left to write an event of a killed keeper: `status` tells of it.
    event, seconds = ("(status)", seen.noticed_s) if victim == "keeper" else detected_s(stage, killed)
    left = left_of(stage, before, isolated=isolated)
    stage.down()
    return {
        "victim": victim,
        "pid": pid,
        "processes": len(engine),
        "alive_after_the_kill": alive,
        "event": event,
        "detected_s": seconds,
        "gone_s": round(deaths.at - killed, 3) if deaths.at else -1.0,
        "clean_s": clean_s,
        "left": left,
        **seen.as_json(),
    }


def known(run: Run) -> set[oracle.Identity]:
    """API server, engine core and workers; an engine also has helpers that come and go."""
    titles = tuple(oracle.TITLES.values())
    return set(run.roots) | {process.identity for process in run.processes if process.name.startswith(titles)}


def controller_trials(stage: Stage, times: int, *, isolated: bool) -> list[dict[str, Any]]:
    """On one engine, which must not notice."""
    before = leftovers()
    stage.up()
    engine = known(stage.run())
    rows = []
    for number in range(times):
        former = stage.run().controller
        pid, killed = kill(stage, "controller", number)
        seen = Watched(killed)

        def is_new(row: dict[str, Any], look: Look, former: object = former) -> bool:
            return look.run.controller_lives and look.run.controller != former

        new_s = seen.until(stage, is_new, CONTROLLER_LIMIT_S)
        ready_s = seen.until(stage, lambda row, look: row["state"] == "ready", CONTROLLER_LIMIT_S)
        event, seconds = detected_s(stage, killed)
        row = {"victim": "controller", "pid": pid, "event": event, "detected_s": seconds, "new_controller_s": new_s}
        same = known(stage.run()) == engine
        rows.append({**row, "ready_s": ready_s, "engine_lives_on": same, "left": [], **seen.as_json()})
        tell(rows[-1])
    begun = time.monotonic()
    stage.down()
    rows[-1]["left"] = left_of(stage, before, isolated=isolated)
    rows[-1]["clean_s"] = round(time.monotonic() - begun, 3)
    return rows


def summary(trials: list[dict[str, Any]]) -> dict[str, Any]:
    totals: dict[str, Any] = {"times": len(trials)}
    for name in ("detected_s", "gone_s", "true_s", "clean_s", "new_controller_s"):
        values = [trial[name] for trial in trials if name in trial]
        if values:
            totals[name] = {"median": round(statistics.median(values), 3), "min": min(values), "max": max(values)}
    totals["left"] = sum(len(trial["left"]) for trial in trials)
    totals["status_asked"] = sum(trial["status_asked"] for trial in trials)
    totals["status_lies"] = sum(len(trial["status_lies"]) for trial in trials)
    totals["not_clean"] = sum(trial.get("clean_s") == -1.0 for trial in trials)
    if "engine_lives_on" in trials[0]:
        totals["engine_lived_on"] = sum(trial["engine_lives_on"] for trial in trials)
    return totals


def tell(row: dict[str, Any]) -> None:
    print({name: value for name, value in row.items() if name not in ("states", "pid")}, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("real", "fake"), default="real")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--victims", default=",".join(oracle.VICTIMS))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--own-mounts", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    out = args.out.resolve() if args.out else None
    isolated = mounts.isolate("benchmarks.kills", sys.argv[1:])
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    forked.import_moonpad()
    wanted = args.victims.split(",")
    home = Path(tempfile.mkdtemp(prefix="k"))
    stage = Stage(home, args.engine, tp=2)
    kept = json.loads(out.read_text())["trials"] if out and out.exists() else []
    trials = {victim: [trial for trial in kept if trial["victim"] == victim] for victim in oracle.VICTIMS}
    trials |= {victim: [] for victim in wanted}
    try:
        for victim in wanted:
            if victim == "controller":
                trials[victim] = controller_trials(stage, args.times, isolated=isolated)
            for number in range(args.times if victim in VICTIMS else 0):
                trials[victim].append(trial(stage, victim, number, isolated=isolated))
                tell(trials[victim][-1])
            record(out, args.engine, trials, isolated=isolated)
    finally:
        machine.end_all()
    shutil.rmtree(home)
    finished = [trial for victim in wanted for trial in trials[victim]]
    bad = [
        trial for trial in finished if trial["left"] or trial["status_lies"] or not trial.get("engine_lives_on", True)
    ]
    sys.exit(1 if bad or any(trial.get("clean_s") == -1.0 for trial in finished) else 0)


def record(out: Path | None, engine: str, trials: dict[str, list[dict[str, Any]]], *, isolated: bool) -> None:
    result = {
        **about(f"kill -9 of each process of an endpoint, {engine} engine"),
        "isolated": isolated,
        "summary": {victim: summary(rows) for victim, rows in trials.items() if rows},
        "trials": [trial for rows in trials.values() for trial in rows],
    }
    print(json.dumps(result["summary"], indent=1))
    write(out, result)


if __name__ == "__main__":
    main()
