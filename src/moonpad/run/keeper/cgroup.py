"""The run's own cgroup, where one can be made. Everything works without."""

from __future__ import annotations

import contextlib
import errno
import os
import time

from moonpad.facts.processes import read_stat

PREFIX = "moonpad-"
REMOVE_LIMIT_S = 2.0
REMOVE_POLL_S = 0.02


def find_own() -> str:
    """The folder of our own cgroup v2, "" where none is mounted."""
    try:
        with open("/proc/self/cgroup") as file:
            inside = next((line[3:].rstrip("\n") for line in file if line.startswith("0::/")), "")
        with open("/proc/self/mountinfo") as file:
            mounts = (line.split() for line in file)
            mount = next((words[4] for words in mounts if "cgroup2" in words[words.index("-") :]), "")
    except (OSError, ValueError):
        return ""
    return mount + inside.rstrip("/") if mount and inside else ""


def name_new() -> str:
    """Where this keeper's would be, below our own; "" where there is no cgroup v2."""
    above = find_own()
    return os.path.join(above, f"{PREFIX}{os.getuid()}-{os.getpid()}") if above else ""


def make(folder: str) -> str:
    """The folder, or "" where we may not: that is usual."""
    try:
        os.mkdir(folder)
        with open(os.path.join(folder, "cgroup.procs"), "r+"):
            return folder
    except OSError:
        with contextlib.suppress(OSError):
            os.rmdir(folder)
        return ""


def list_members(folder: str) -> dict[int, int]:
    """pid → start time of the processes that live in it."""
    members: dict[int, int] = {}
    with contextlib.suppress(OSError), open(os.path.join(folder, "cgroup.procs")) as file:
        for line in file:
            if line.strip().isdigit() and (stat := read_stat(int(line))) is not None and stat.runs:
                members[int(line)] = stat.start
    return members


def kill(folder: str) -> None:
    """All of it at once, forks that are under way included (Linux ≥ 5.14). The folder may be ""."""
    if not folder:
        return
    with contextlib.suppress(OSError), open(os.path.join(folder, "cgroup.kill"), "w") as file:
        file.write("1")


def remove(folder: str) -> None:
    """Its processes must have ended. Only a cgroup of `name_new` is touched."""
    if not os.path.basename(folder).startswith(PREFIX):
        return
    until = time.monotonic() + REMOVE_LIMIT_S
    while True:
        try:
            return os.rmdir(folder)
        except OSError as error:  # EBUSY: a process that has ended may have threads that are still exiting
            if error.errno != errno.EBUSY or time.monotonic() > until:
                return
        time.sleep(REMOVE_POLL_S)


def count_oom_kills(folder: str) -> int | None:
    """How often the kernel's OOM killer has struck: in the cgroup, or on this machine where the cgroup does not say."""
    inside = ""
    with contextlib.suppress(OSError), open("/proc/self/cgroup") as file:
        inside = next((line.split(":", 2)[2].rstrip("\n") for line in file if ":memory:" in line), "")
    for path in (
        os.path.join(folder or find_own(), "memory.events"),
        f"/sys/fs/cgroup/memory{inside}/memory.oom_control",
        "/proc/vmstat",
    ):
        with contextlib.suppress(OSError, ValueError), open(path) as file:
            for line in file:
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    return None
