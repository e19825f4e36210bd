"""Stops processes, and removes what they leave: temporary files, shared memory, the cgroup, a container's client."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from typing import Any

from moonpad.facts.processes import send_signal
from moonpad.run.keeper import cgroup
from moonpad.run.keeper.shared_memory import remove_shared_memory

POLL_S = 0.02
KILL_LIMIT_S = 10.0
COMMAND_LIMIT_S = 10.0
ANSWER_LIMIT_S = 5.0
TEMP_PREFIX = cgroup.PREFIX


def stop_all(
    find: Callable[[], dict[int, int]],
    roots: set[int],
    grace_s: float,
    reap: Callable[[], None],
    hurry: Callable[[], bool],
    pause: Callable[[float], None] = time.sleep,
    kill: Callable[[], None] = lambda: None,
) -> dict[str, object]:
    """INT to the roots, TERM to all, KILL to all, repeated until `find()` (pid → start time) finds none.

    `grace_s` is for INT and TERM together, in halves. `reap()` is called at each look; `hurry()` true skips to KILL;
    `kill()` is called beside each KILL. Returns the last signal that was needed ("" for none), what was killed, and
    what is left.
    """
    used = ""
    killed: set[tuple[int, int]] = set()
    half = grace_s / 2
    steps = (("INT", signal.SIGINT, half), ("TERM", signal.SIGTERM, half), ("KILL", signal.SIGKILL, KILL_LIMIT_S))
    for name, number, limit_s in steps:
        if name != "KILL" and hurry():
            continue
        until = time.monotonic() + limit_s
        signalled: set[tuple[int, int]] = set()
        while True:
            reap()
            living = find()
            if not living:
                return {"signal": used, "killed": len(killed), "left": []}
            if time.monotonic() >= until or (name != "KILL" and hurry()):
                break
            if name == "INT" and not roots & set(living):
                break  # no root is left to end the others
            for pid, start in living.items():
                if (name == "INT" and pid not in roots) or ((pid, start) in signalled and name != "KILL"):
                    continue
                signalled.add((pid, start))
                if send_signal(pid, start, number):
                    used = name
                    if name == "KILL":
                        killed.add((pid, start))
            if name == "KILL":
                kill()
            pause(POLL_S)
    return {"signal": used, "killed": len(killed), "left": sorted(find())}


def run_commands(commands: list[list[str]], log: str) -> bool:
    """Runs commands that end what a process has outside our tree, each also after one that failed; their output goes to
    `log`. True where the last one ended with 0. One that takes longer than COMMAND_LIMIT_S is killed."""
    import subprocess  # here, because it would add to the time until the keeper is there

    succeeded, null = False, subprocess.DEVNULL
    for command in commands:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        succeeded = False
        try:
            subprocess.run(command, stdin=null, stdout=handle, stderr=handle, timeout=COMMAND_LIMIT_S, check=True)
            succeeded = True
        except (OSError, subprocess.SubprocessError) as error:
            with contextlib.suppress(OSError):
                os.write(handle, f"{error}\n".encode())
        finally:
            os.close(handle)
    return succeeded


def read_answer(command: list[str]) -> str | None:
    """What a command prints, None where it fails or takes longer than ANSWER_LIMIT_S."""
    import subprocess

    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=ANSWER_LIMIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip()


def name_temp_dir(base: str) -> str:
    """A directory of the run's own; the path is short, because ZeroMQ puts sockets there (107 bytes at most)."""
    return os.path.join(base, f"{TEMP_PREFIX}{os.getuid()}-{os.getpid()}-{os.urandom(2).hex()}")


def remove_temp_dir(path: str) -> int:
    """Removes it with all that is in it; returns how many files and sockets that were. Only a directory of a
    `name_temp_dir` of this user is touched."""
    import shutil  # here, because it would add to the time until the keeper is there

    if not os.path.basename(path).startswith(f"{TEMP_PREFIX}{os.getuid()}-") or os.path.islink(path):
        return 0
    count = sum(len(files) for _, _, files in os.walk(path))
    shutil.rmtree(path, ignore_errors=True)
    return count


def remove_leftovers(document: dict[str, Any], shared: set[str]) -> dict[str, object]:
    """What the processes of a `keeper.json` have left, once all have ended."""
    cgroup.remove(document.get("cgroup") or "")
    return {
        "shared_memory_removed": remove_shared_memory(shared | set(document.get("shared_memory") or ())),
        "temp_files_removed": remove_temp_dir(document.get("temp_dir") or ""),
    }
