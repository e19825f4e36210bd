"""The engine's processes, one generation after the other: starts them, waits, and stops whatever is left."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Any

from moonpad.facts.processes import describe_status, read_boot_id, read_start, send_signal
from moonpad.run.keeper import cgroup
from moonpad.run.keeper.controller_process import ControllerProcess
from moonpad.run.keeper.event_loop import EventLoop
from moonpad.run.keeper.heartbeats import Heartbeats
from moonpad.run.keeper.log_file import bound_log, renew_log
from moonpad.run.keeper.owned_processes import DeathWatch, OwnedProcesses
from moonpad.run.keeper.shared_memory import RESERVE, RESERVE_BYTES, write_reserve
from moonpad.run.keeper.spawn import spawn
from moonpad.run.keeper.stop import POLL_S, name_temp_dir, read_answer, remove_leftovers, run_commands, stop_all
from moonpad.store.atomic_files import replace_json
from moonpad.store.journal import Journal

SCHEMA = 2
# How often the owned set is looked at, by the age of the generation. An orphan that is in no snapshot is lost to `down`
# when the keeper is killed, and an engine forks when it is young. Deaths and requests wake the keeper at once.
TICKS_S = ((10.0, 0.1), (60.0, 0.5), (float("inf"), 2.0))
WAITING_TICK_S = 0.5
QUERY_PATIENCE_S = 60.0  # a daemon that is restarted is away for seconds
CLIENT_LIVES_S = 10.0  # a client that ends sooner could not connect, and is started again later and later …
CLIENT_PAUSE_S = (0.1, 30.0)  # … at first, at most
CRASH_GRACE_S = 4.0  # for INT and TERM of an engine that has lost a process or hangs: it has no request to finish
DECISION_LIMIT_S = 900.0
LONGEST_S = 86400.0


class Keeper:
    """One run's processes. `job` is what the launcher sent; see `run/launch.py` for its keys."""

    def __init__(self, job: dict[str, Any], loop: EventLoop) -> None:
        self.job = job
        self.loop = loop
        self.folder: str = job["run_dir"]
        self.processes: dict[str, dict[str, Any]] = {process["name"]: process for process in job["processes"]}
        self.journal = Journal(Path(self.folder, "events.jsonl"))
        self.controller = ControllerProcess(job["controller"], self.folder, self.journal)
        # The cgroup and the temporary directory are written down before they are made: a keeper that is killed in
        # between leaves nothing unknown.
        self.owned = OwnedProcesses(loop, self.controller, cgroup.name_new() if job["cgroup"] else "")
        self.temp_dir = ""
        self.logs = sorted({process["log"] for process in self.processes.values()})
        self.log_rotations, self.log_dropped_bytes = 0, 0
        self.state, self.because = "running", "its processes run"
        self.generation = 1
        self.began_s = self.attended_s = time.monotonic()
        self.was_ready, self.ready_generation = False, 0
        self.request: dict[str, Any] | None = None  # that was made, and is not carried out yet
        self.hurry = False
        self.roots: dict[int, tuple[str, int]] = {}  # pid → (process name, start time)
        self.former_roots: set[int] = set()
        self.ended_roots: list[tuple[str, str]] = []  # (process name, how it ended), in their order
        self.deaths = DeathWatch(self.journal)
        self.heartbeats = Heartbeats()
        self.clients_lost, self.client_began_s = 0, 0.0
        self.after_stop: list[list[list[str]]] = []  # of each process; gone when its last command has succeeded
        self.after_end = [process["after_end"] for process in job["processes"] if process.get("after_end")]
        self.oom_kills_before: int | None = None
        self.snapshotted: dict[str, Any] | None = None
        # Given up at the end, so that the last snapshot can be written on a full disk.
        self.reserve = os.path.join(self.folder, RESERVE)
        with open(self.reserve, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)

    # - the present state -

    def look(self) -> dict[int, int]:
        """pid → start time of the engine's processes."""
        return self.owned.look(ending=self.state != "running")

    def snapshot(self, living: dict[int, int]) -> None:
        """`keeper.json`, where anything in it has changed."""
        document = {
            "schema": SCHEMA,
            "state": self.state,
            "because": self.because,
            "boot_id": read_boot_id(),
            "keeper": {"pid": os.getpid(), "start": read_start(os.getpid())},
            "controller": self.controller.as_json(),
            "generation": self.generation,
            "lost": self.deaths.reason,
            "roots": [{"name": name, "pid": pid, "start": start} for pid, (name, start) in self.roots.items()],
            "owned": [
                {"pid": pid, "start": start, "title": self.owned.titles.get((pid, start), "")}
                for pid, start in sorted(living.items())
            ],
            "after_stop": self.after_stop,
            "after_end": self.after_end,
            "temp_dir": self.temp_dir,
            "cgroup": self.owned.cgroup,
            "shared_memory": sorted(self.owned.shared_memory.paths),
            "log": {"rotations": self.log_rotations, "dropped_bytes": self.log_dropped_bytes},
        }
        if document == self.snapshotted:
            return
        # A full disk must not end the engine; the lock and /proc stay true. The next tick tries again.
        try:
            replace_json(Path(self.folder, "keeper.json"), document)
            self.snapshotted = document
        except OSError:
            write_reserve(self.reserve, self.owned.shared_memory.paths)

    def tick(self) -> None:
        """Everything that has to be done from time to time, whatever the state."""
        self.reap()
        self.note_deaths()
        self.controller.keep_up()
        self.heartbeats.send()
        for log in self.logs:
            dropped_bytes = bound_log(log, self.job["log_bytes"])
            if dropped_bytes is not None:
                self.log_rotations += 1
                self.log_dropped_bytes += dropped_bytes
        self.journal.flush()
        self.snapshot(self.look())

    def reap(self) -> None:
        """Collects every child that has ended; notes the roots."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                if pid == self.controller.pid:
                    self.controller.note_end(status)
                elif pid in self.roots:
                    self.ended_roots.append((self.roots[pid][0], describe_status(status)))

    def note_deaths(self) -> None:
        while self.loop.deaths:
            pid, start, status = self.loop.deaths.pop(0)
            title = self.owned.titles.pop((pid, start), "")
            if self.state == "running" and pid not in self.roots and pid not in self.former_roots:
                self.deaths.note(pid, start, title, status)

    # - requests -

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request of the control socket; `run` carries it out."""
        action = request.get("do")
        for name in ("drain_s", "grace_s"):
            seconds = request.get(name, 0.0)
            if not isinstance(seconds, (int, float)) or not 0 <= seconds <= LONGEST_S:
                return {"ok": False, "why": f"{name} must be a number of seconds, at most {LONGEST_S:.0f}"}
        running, waiting = self.state == "running", self.state == "waiting"
        if action == "status":
            return {
                "ok": True,
                "pid": os.getpid(),
                "state": self.state,
                "because": self.because,
                "generation": self.generation,
                "ready": self.ready_generation == self.generation,
                "lost": self.deaths.reason,
                "controller": self.controller.as_json(),
            }
        if action == "attend":
            self.attended_s = time.monotonic()
        elif action == "ready":
            if request.get("generation") != self.generation or not running:
                return {"ok": False, "why": f"generation {self.generation} is {self.state}"}
            self.look()
            self.was_ready, self.ready_generation = True, self.generation
            self.deaths.become_ready(request.get("asked_s"))
        elif action == "hurry":
            self.hurry = True
            self.request = self.request or {"do": "stop"}
        elif action == "stop" or (action in ("fail", "cycle") and running) or (action in ("start", "end") and waiting):
            if self.request is None or action == "stop":
                self.request = request
        else:
            return {"ok": False, "why": f"{action!r} is not possible while the run is {self.state}"}
        return {"ok": True}

    def has_request(self) -> bool:
        """A signal is the request to stop."""
        if self.loop.stop_signals and self.request is None:
            self.loop.stop_signals -= 1
            self.request = {"do": "stop"}
        return self.request is not None

    def is_hurried(self) -> bool:
        """A second request to stop while stopping means: now."""
        self.hurry = self.hurry or self.loop.stop_signals > 0
        return self.hurry

    # - one generation -

    def start(self) -> None:
        """Starts the processes in their order. Raises OSError where one cannot be executed."""
        self.began_s = self.attended_s = time.monotonic()
        self.state, self.because = "running", "its processes run"
        self.request, self.hurry = None, False
        self.roots, self.former_roots, self.ended_roots = {}, set(), []
        self.deaths = DeathWatch(self.journal)
        self.clients_lost, self.client_began_s = 0, 0.0
        self.loop.forget_processes()
        self.oom_kills_before = cgroup.count_oom_kills(self.owned.cgroup)
        self.after_stop = [process["after_stop"] for process in self.processes.values() if process["after_stop"]]
        for log in self.logs:
            renew_log(log)
        self.temp_dir = name_temp_dir(self.job["temp_base"]) if self.job["temp_base"] else ""
        self.snapshot({})  # what is to be done after a stop must be known before there is anything to stop
        if self.temp_dir:
            os.mkdir(self.temp_dir, 0o700)
        for name, process in self.processes.items():
            self.start_process(name, process["argv"])
            self.snapshot(self.look())
        self.controller.keep_up()

    def start_process(self, name: str, argv: list[str]) -> None:
        process = self.processes[name]
        env = {**process["env"], **({"TMPDIR": self.temp_dir} if self.temp_dir else {})}
        stdin = self.heartbeats.open(name) if process.get("beats") else None
        try:
            pid, start = spawn(argv, env, process["log"], self.folder, signal.SIGTERM, self.owned.cgroup, stdin)
        finally:
            if stdin is not None:
                os.close(stdin)
        self.roots[pid] = (name, start)
        self.journal.append("spawned", process=name, pid=pid, generation=self.generation)

    def wait(self) -> str:
        """Until a root ends, an essential process dies, the lease expires or there is a request. Returns the reason."""
        while True:
            now = time.monotonic()
            pause = next(pause for age, pause in TICKS_S if now - self.began_s < age)
            self.loop.wait(min(pause, self.deaths.deadline_s - now))
            time.sleep(POLL_S / 2)  # frequent wake-ups must not take a whole core
            self.tick()
            if self.has_request():
                return str((self.request or {}).get("reason") or "asked to stop")
            lost = self.deaths.reason
            if self.ended_roots:
                if not lost and self.reattach():
                    continue
                if self.has_request():
                    return "asked to stop"
                return "{} ended: {}{}".format(*self.ended_roots[0], f", after {lost}" if lost else "")
            if time.monotonic() >= self.deaths.deadline_s:
                return lost
            if (lease_s := self.job.get("lease_s")) and time.monotonic() - self.attended_s > lease_s:
                return f"the lease of {lease_s:g} s expired: the first host did not renew it"

    def reattach(self) -> bool:
        """A root that is only the client of something else (docker, ssh) is started again where that still runs. It is
        queried, never assumed: a daemon that is restarted answers after a while."""
        name, how = self.ended_roots[0]
        if not (reattach := self.processes[name].get("reattach")):
            return False
        query, argv = reattach
        lived_s = time.monotonic() - self.client_began_s
        self.clients_lost = self.clients_lost + 1 if lived_s < CLIENT_LIVES_S else 0
        first, most = CLIENT_PAUSE_S
        due = time.monotonic() + min(most, first * 2 ** min(self.clients_lost, 10)) * (self.clients_lost > 0)
        while time.monotonic() < due and not self.has_request():
            self.loop.wait(due - time.monotonic())
            self.tick()
        patience_s = self.processes[name].get("patience_s") or QUERY_PATIENCE_S
        until, pause = time.monotonic() + patience_s, 0.1
        while time.monotonic() < until and not self.has_request():
            answer = read_answer(query)
            if answer == "":
                return False
            if answer is not None:
                self.client_began_s = time.monotonic()
                clients = {pid for pid, root in self.roots.items() if root[0] == name}
                self.former_roots |= clients
                self.roots = {pid: root for pid, root in self.roots.items() if pid not in clients}
                try:
                    self.start_process(name, argv)
                except OSError:
                    self.ended_roots[0] = (name, "its client could not be started again")
                    return False
                self.journal.append("reattached", process=name, to=answer[:200])
                self.ended_roots.pop(0)
                return True
            self.loop.wait(pause)
            self.tick()
            pause = min(2.0, pause * 2)
        self.ended_roots[0] = (name, f"{how}, and it could not be queried for {patience_s:.0f} s")
        return False

    def stop(self, request: dict[str, Any]) -> dict[str, object]:
        """Stops whatever is left of the engine, and removes what it leaves. Returns the fields of its event."""
        self.state = "stopping"
        self.journal.append("stopping", reason=self.because, generation=self.generation)
        drain_s = float(request.get("drain_s") or 0.0)
        living = self.look()
        self.snapshot(living)
        if drain_s > 0 and living:
            self.drain(drain_s)
        longest_s = self.job["grace_s"] if request["do"] == "stop" else min(self.job["grace_s"], CRASH_GRACE_S)
        grace_s = float(request.get("grace_s", longest_s))
        result = stop_all(
            self.look,
            set(self.roots),
            grace_s,
            self.reap,
            self.is_hurried,
            self.loop.wait,
            kill=lambda: cgroup.kill(self.owned.cgroup),
        )
        self.finish_after_stop(grace_s, result)
        if not result["left"]:
            result.update(remove_leftovers({"temp_dir": self.temp_dir}, self.owned.shared_memory.paths))
            self.owned.shared_memory.paths, self.temp_dir = set(), ""
        before, now = self.oom_kills_before, cgroup.count_oom_kills(self.owned.cgroup)
        oom_kills = None if now is None or before is None else now - before
        return {**result, "oom_kills": oom_kills, "deaths": self.deaths.deaths, "generation": self.generation}

    def drain(self, drain_s: float) -> None:
        """The roots are told to end, and have `drain_s` to finish what runs; the ranks on other hosts serve until all
        here have."""
        self.journal.append("draining", drain_s=drain_s)
        remote = {pid for pid, (name, _) in self.roots.items() if name in self.heartbeats}
        for pid, (_, start) in self.roots.items():
            if pid not in remote:
                send_signal(pid, start, signal.SIGTERM)
        until = time.monotonic() + drain_s
        while time.monotonic() < until and not self.is_hurried():
            self.reap()
            self.heartbeats.send()
            if self.look().keys() <= remote:
                return
            self.loop.wait(0.05)

    def finish_after_stop(self, patience_s: float, result: dict[str, object]) -> None:
        """Runs the `after_stop` commands, again and again while they fail. Those that did not succeed are left, and
        noted in the result."""
        until, pause = time.monotonic() + patience_s, 0.1
        while self.after_stop:
            log = os.path.join(self.folder, "keeper.log")
            self.after_stop = [commands for commands in self.after_stop if not run_commands(commands, log)]
            if not self.after_stop or time.monotonic() >= until or self.is_hurried():
                break
            self.loop.wait(pause)
            self.reap()
            pause = min(2.0, pause * 2)
        if self.after_stop:
            result["after_stop_failed"] = True
        self.reap()

    # - all of them -

    def run(self) -> None:
        """Starts the engine, waits, stops whatever is left; again where the controller decides so."""
        while True:
            try:
                self.start()
                self.because = self.wait()
            except OSError as error:
                self.because, self.request = f"could not start: {error}", {"do": "fail"}
            request = self.request or {"do": "crash"}
            self.request = None
            result = self.stop(request)
            clean = not result["left"] and not self.after_stop
            may_restart = self.was_ready and self.job["restarts"] > 0 and self.controller.command and clean
            if request["do"] in ("crash", "cycle") and may_restart:
                self.journal.append("ended", reason=self.because, **result)
                if self.await_decision():
                    self.generation += 1
                    continue
                request = self.request or {"do": "end"}
            return self.finish(request, result)

    def await_decision(self) -> bool:
        """Whether the engine is to be started again. No process of it runs meanwhile."""
        self.state = "waiting"
        until = time.monotonic() + DECISION_LIMIT_S
        while time.monotonic() < until:
            self.tick()
            if self.has_request():
                return bool(self.request and self.request["do"] == "start")
            self.loop.wait(WAITING_TICK_S)
        self.because = f"{self.because}; no decision came in {DECISION_LIMIT_S:.0f} s"
        return False

    def finish(self, request: dict[str, Any], result: dict[str, object]) -> None:
        stopped = request["do"] == "stop"
        if stopped or request["do"] == "end":
            self.because = str(request.get("reason") or ("asked to stop" if stopped else self.because))
        self.controller.end(self.loop.wait, self.reap)
        if self.owned.cgroup and not result["left"]:
            cgroup.remove(self.owned.cgroup)
        self.after_stop, self.after_end = self.after_stop + self.after_end, []
        self.finish_after_stop(self.job["grace_s"], result)
        self.state = "stopped" if stopped else "failed"
        with contextlib.suppress(OSError):
            os.unlink(self.reserve)
        self.journal.append(self.state, reason=self.because, **result)
        self.snapshot(self.owned.find())
