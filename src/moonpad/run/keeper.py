"""The keeper: owns every process of one run on one host, and leaves none behind.

Standard library only, single-threaded, one file, so that the same bytes can be sent over ssh and run by any
Python ≥ 3.9. It is started with the run folder as its argument and one JSON job on standard input (secrets never touch
a disk), takes the run's lock, detaches, and answers on standard output with one JSON line: {"ok": true, "pid": …} or
{"ok": false, …}.

- Child subreaper: every orphan below it reparents to it, so the set of its descendants is complete however often the
  engine's workers double-fork, call setsid or rename themselves (a rename wipes /proc/PID/environ, so neither name nor
  environment says who owns a process).
- Identity is (pid, start time): a recycled pid is never signalled. Signals go through pidfds.
- The engine has a parent-death signal; the owned set stands in `keeper.json`, so that `down` can finish the job
  when the keeper itself was killed.
- Stops by INT (the roots), TERM (all), KILL (all), until a scan finds none.
- What a process leaves outside that tree (a container outlives its killed client) is ended by the process's
  `after_stop` commands, run when none is left. They stand in `keeper.json` until they have succeeded.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
TICK_S = 0.5
# An orphan that no snapshot names is lost to `down` when the keeper is killed, and an engine forks when it is young.
YOUNG_S = 10.0
YOUNG_TICK_S = 0.1
KILL_LIMIT_S = 10.0
COMMAND_LIMIT_S = 10.0


# --- what runs: /proc ------------------------------------------------------------------------------------------------


def stat_of(pid: int) -> tuple[int, int, str] | None:
    """(parent pid, start time in clock ticks since boot, state letter) of a process, None where there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    # The name stands in parentheses and may hold anything, ")" too: the last one ends it.
    fields = text[text.rindex(b")") + 2 :].split()
    return int(fields[1]), int(fields[19]), fields[0].decode()


def is_alive(pid: int, start: int) -> bool:
    """Whether this very process still runs. A zombie has ended: it holds no memory and no port."""
    found = stat_of(pid)
    return found is not None and found[1] == start and found[2] not in "ZX"


def descendants(roots: set[int]) -> dict[int, int]:
    """pid → start time of every living process below the roots, without the roots themselves."""
    children: dict[int, list[int]] = {}
    starts: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := stat_of(int(name))) is not None:
            parent, start, state = found
            children.setdefault(parent, []).append(int(name))
            if state not in "ZX":
                starts[int(name)] = start
    below: dict[int, int] = {}
    queue = [child for root in roots for child in children.get(root, ())]
    while queue:
        pid = queue.pop()
        if pid in below or pid in roots:
            continue
        if pid in starts:
            below[pid] = starts[pid]
        queue.extend(children.get(pid, ()))
    return below


def writers_of(log: str) -> dict[int, int]:
    """pid → start time of every living process whose stdout or stderr is this file, however it detached itself."""
    found: dict[int, int] = {}
    log = os.path.realpath(log)
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        for stream in (1, 2):
            with contextlib.suppress(OSError):  # gone meanwhile, or another user's
                seen = stat_of(int(name))
                if seen and seen[2] not in "ZX" and os.readlink(f"/proc/{name}/fd/{stream}") == log:
                    found[int(name)] = seen[1]
    return found


def shared_memory_of(pids: dict[int, int]) -> set[str]:
    """Paths of what these processes have mapped of Python's shared memory and semaphores: files that nobody removes
    when they are killed, and the engine's are 160 MB of RAM each."""
    found: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/maps") as maps:
            for line in maps:
                path = line[line.find("/") :].rstrip() if "/dev/shm/" in line else ""
                if path.startswith(("/dev/shm/psm_", "/dev/shm/sem.mp-")) and " " not in path:
                    found.add(path)
    return found


def remove_shared_memory(paths: set[str]) -> list[str]:
    """Removes those that are left, and returns their names."""
    removed = []
    for path in sorted(paths):
        with contextlib.suppress(OSError):
            os.unlink(path)
            removed.append(os.path.basename(path))
    return removed


def send(pid: int, start: int, number: int) -> bool:
    """Signals this very process; False where it has gone. The pidfd is opened before the start time is compared, so
    that the pid cannot be recycled in between."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not is_alive(pid, start):
            return False
        signal.pidfd_send_signal(handle, number)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(handle)


def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


# --- what is written down --------------------------------------------------------------------------------------------


def replace_json(path: str, document: object, mode: int = 0o600) -> None:
    """The old file or the new one, never half of it."""
    part = f"{path}.{os.getpid()}.part"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    with os.fdopen(handle, "w") as file:
        json.dump(document, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def append_event(path: str, event: str, **fields: object) -> None:
    """One line; `t_s` is the machine's monotonic clock, comparable between the processes of one boot."""
    record = {"event": event, "t_s": round(time.monotonic(), 6), "at": round(time.time(), 3), **fields}
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, json.dumps(record).encode() + b"\n")
    finally:
        os.close(handle)


# --- the lock --------------------------------------------------------------------------------------------------------


def take_lock(path: str, holder: dict[str, object]) -> int | None:
    """The descriptor of the lock, or None where another holds it. It is the kernel's: it ends with its holder."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        # The holder before us unlinks the file when it ends: a lock on a file that is gone is no lock.
        try:
            same = os.fstat(handle).st_ino == os.stat(path).st_ino
        except FileNotFoundError:
            same = False
        if same:
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps(holder).encode(), 0)
            return handle
        os.close(handle)


def release_lock(path: str, handle: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    os.close(handle)


# --- stopping --------------------------------------------------------------------------------------------------------


def stop_all(
    find: Callable[[], dict[int, int]],
    roots: set[int],
    grace_s: float,
    reap: Callable[[], None],
    hurry: Callable[[], bool],
) -> dict[str, object]:
    """INT to the roots, TERM to all, KILL to all, repeated until `find()` (pid → start time) finds none.

    `grace_s` is for INT and TERM together, in halves. `reap()` is called at each look; `hurry()` true skips to KILL.
    Returns the last signal that was needed ("" for none), what was killed, and what is left.
    """
    used, killed = "", 0
    half = grace_s / 2
    steps = (("INT", signal.SIGINT, half), ("TERM", signal.SIGTERM, half), ("KILL", signal.SIGKILL, KILL_LIMIT_S))
    for name, number, limit_s in steps:
        if name != "KILL" and hurry():
            continue
        until = time.monotonic() + limit_s
        told: set[tuple[int, int]] = set()
        while True:
            reap()
            living = find()
            if not living:
                return {"signal": used, "killed": killed, "left": []}
            if time.monotonic() >= until or (name != "KILL" and hurry()):
                break
            for pid, start in living.items():
                if (name == "INT" and pid not in roots) or ((pid, start) in told and name != "KILL"):
                    continue
                told.add((pid, start))
                if send(pid, start, number):
                    used = name
                    killed += name == "KILL"
            time.sleep(0.02)
    return {"signal": used, "killed": killed, "left": sorted(find())}


def run_commands(commands: list[list[str]], log: str) -> bool:
    """Runs each, whatever became of the one before; their output goes to `log`. True where the last one ended with 0.
    One that takes longer than COMMAND_LIMIT_S is killed."""
    import subprocess  # here, because it would double the time until the keeper is there

    done = False
    for command in commands:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            ended = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=handle, stderr=handle, timeout=COMMAND_LIMIT_S, check=False
            )
            done = ended.returncode == 0
        except (OSError, subprocess.TimeoutExpired) as error:
            os.write(handle, f"{error}\n".encode())
            done = False
        finally:
            os.close(handle)
    return done


# --- the keeper itself -----------------------------------------------------------------------------------------------


def set_process_option(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def describe_status(status: int) -> str:
    """`exit 1`, `SIGKILL`: how a process ended."""
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit {os.WEXITSTATUS(status)}"


WATCHED = {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


class Keeper:
    """One run's processes. `job` is what the launcher sent; see `run/launch.py` for its keys."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.folder: str = job["run_dir"]
        self.events = os.path.join(self.folder, "events.jsonl")
        self.roots: dict[int, tuple[str, int]] = {}  # pid → (process name, start time)
        self.snapshot: dict[int, int] | None = None
        self.ended: tuple[str, str] | None = None  # the first root that ended, and how
        self.hurry = False
        self.after_stop: list[list[str]] = [one for process in job["processes"] for one in process["after_stop"]]

    def start(self, process: dict[str, Any]) -> None:
        """Starts one process with its log on stdout and stderr. Raises OSError where it cannot be executed."""
        log = os.open(process["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        came_back, tell = os.pipe2(os.O_CLOEXEC)
        keeper_pid = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()  # the terminal's Ctrl-C is ours to translate
                set_process_option(PR_SET_PDEATHSIG, signal.SIGTERM)
                if os.getppid() != keeper_pid:
                    os._exit(1)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
                null = os.open(os.devnull, os.O_RDONLY)
                os.dup2(null, 0)
                os.dup2(log, 1)
                os.dup2(log, 2)
                os.chdir(self.folder)
                os.execvpe(process["argv"][0], process["argv"], process["env"])
            except OSError as error:
                os.write(tell, f"{process['argv'][0]}: {error.strerror}".encode())
            finally:
                os._exit(127)
        os.close(tell)
        os.close(log)
        with os.fdopen(came_back, "rb") as pipe:
            trouble = pipe.read().decode()
        if trouble:
            os.waitpid(pid, 0)
            raise OSError(trouble)
        found = stat_of(pid)
        self.roots[pid] = (process["name"], found[1] if found else 0)
        append_event(self.events, "spawned", process=process["name"], pid=pid)

    def owned(self) -> dict[int, int]:
        return descendants({os.getpid()})

    def write_snapshot(self, state: str) -> None:
        living = self.owned()
        if living == self.snapshot and state == "running":
            return
        self.snapshot = living
        own = stat_of(os.getpid())
        document = {
            "schema": 1,
            "state": state,
            "boot_id": boot_id(),
            "keeper": {"pid": os.getpid(), "start": own[1] if own else 0},
            "roots": [{"name": name, "pid": pid, "start": start} for pid, (name, start) in self.roots.items()],
            "owned": [{"pid": pid, "start": start} for pid, start in sorted(living.items())],
            "after_stop": self.after_stop,
        }
        # A full disk must not end the engine; the lock and /proc still tell the truth.
        with contextlib.suppress(OSError):
            replace_json(os.path.join(self.folder, "keeper.json"), document)

    def reap(self) -> None:
        """Collects every child that has ended; notes the first of the roots."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self.roots and self.ended is None:
                self.ended = (self.roots[pid][0], describe_status(status))

    def wait(self) -> str:
        """Until a root ends, or somebody asks to stop. Returns the reason."""
        young_until = time.monotonic() + YOUNG_S
        while True:
            got = signal.sigtimedwait(WATCHED, YOUNG_TICK_S if time.monotonic() < young_until else TICK_S)
            self.reap()
            if self.ended is not None:
                return f"{self.ended[0]} ended: {self.ended[1]}"
            if got is not None and got.si_signo != signal.SIGCHLD:
                return "asked to stop"
            self.write_snapshot("running")

    def hurried(self) -> bool:
        """A second request to stop while stopping means: now."""
        while (got := signal.sigtimedwait(WATCHED, 0)) is not None:
            if got.si_signo != signal.SIGCHLD:
                self.hurry = True
        return self.hurry

    def run(self) -> None:
        """Starts the processes in their order, waits, and stops whatever is left. One gang: one ends, all end."""
        try:
            for process in self.job["processes"]:
                self.start(process)
            self.write_snapshot("running")
            reason = self.wait()
        except OSError as error:
            reason = f"could not start: {error}"
        append_event(self.events, "stopping", reason=reason)
        self.write_snapshot("stopping")
        shared: set[str] = set()

        def look() -> dict[int, int]:
            living = self.owned()
            shared.update(shared_memory_of(living))  # at each look: a start goes on while it is deaf to INT
            return living

        result = stop_all(look, set(self.roots), self.job["grace_s"], self.reap, self.hurried)
        if not result["left"]:
            result["shared_memory_removed"] = remove_shared_memory(shared)
        if self.after_stop and run_commands(self.after_stop, os.path.join(self.folder, "keeper.log")):
            self.after_stop = []
        failed = reason != "asked to stop"
        append_event(self.events, "failed" if failed else "stopped", reason=reason, **result)
        self.write_snapshot("failed" if failed else "stopped")


def main() -> int:
    job = json.load(sys.stdin)
    lock = take_lock(job["lock"], {**job["holder"], "pid": os.getpid()})
    if lock is None:
        print(json.dumps({"ok": False, "why": "locked"}), flush=True)
        return 0
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    if job["foreground_of"]:
        # Nobody is left to ask for a stop once the foreground command is gone.
        set_process_option(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != job["foreground_of"]:
            release_lock(job["lock"], lock)
            return 1
    elif os.fork() > 0:
        os._exit(0)
    if os.getsid(0) != os.getpid():
        os.setsid()
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    os.ftruncate(lock, 0)
    os.pwrite(lock, json.dumps({**job["holder"], "pid": os.getpid()}).encode(), 0)
    kept = Keeper(job)
    kept.write_snapshot("running")  # before the answer: whoever gets it may look at once
    print(json.dumps({"ok": True, "pid": os.getpid()}), flush=True)
    detach_streams(os.path.join(job["run_dir"], "keeper.log"))
    try:
        kept.run()
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        release_lock(job["lock"], lock)
    return 0


def detach_streams(log: str) -> None:
    """Lets go of the launcher's pipes; what the keeper itself has to say goes to `keeper.log`."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)
    os.close(null)


if __name__ == "__main__":
    sys.exit(main())
