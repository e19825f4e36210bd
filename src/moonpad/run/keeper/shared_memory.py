"""Shared memory and semaphores of the engine: files that stay when their processes are killed, 160 MB of RAM each."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import selectors
import sys
import time

from moonpad.facts.processes import list_pids
from moonpad.run.keeper.event_loop import EventLoop

# What multiprocessing, NCCL, torch and vLLM name theirs. Nothing else: a checkpoint may lie in /dev/shm too.
SHARED_MEMORY = ("/dev/shm/psm_", "/dev/shm/sem.mp-", "/dev/shm/nccl-", "/dev/shm/torch_", "/dev/shm/vllm_")
LOOK_S = 30.0
CLAIM_S = 1.0
RESERVE = ".reserve"
RESERVE_BYTES = 1 << 16
IN_CREATE, IN_MOVED_TO = 0x100, 0x80


def find_shared_memory(pids: dict[int, int]) -> set[str]:
    """Paths of the shared memory and semaphores that these processes have mapped.

    By their inodes: sem_open(3) maps a file under another name, and links it to its own after that.
    """
    inodes: dict[int, str] = {}
    for path in glob.glob("/dev/shm/*"):
        if path.startswith(SHARED_MEMORY):
            with contextlib.suppress(OSError):
                inodes[os.stat(path).st_ino] = path
    return {inodes[inode] for pid in pids if inodes for inode in _mapped_inodes(pid) if inode in inodes}


def _mapped_inodes(pid: int) -> set[int]:
    """Of the files in /dev/shm that the process has mapped."""
    inodes: set[int] = set()
    with contextlib.suppress(OSError), open(f"/proc/{pid}/maps") as maps:
        for line in maps:  # line by line: what was read of a process that ends meanwhile counts
            if " /dev/shm/" in line:
                inodes.add(int(line.split(None, 5)[4]))
    return inodes


def watch_shared_memory() -> int | None:
    """A descriptor that can be read when any process makes shared memory: the owner can be seen only while it lives.
    None where the kernel gives none (inotify(7))."""
    libc = ctypes.CDLL(None)
    handle = int(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    if handle >= 0 and libc.inotify_add_watch(handle, b"/dev/shm", IN_CREATE | IN_MOVED_TO) < 0:
        os.close(handle)
        handle = -1
    return handle if handle >= 0 else None


def parse_inotify(events: bytes) -> list[str]:
    """The names in what `read` gives of an inotify descriptor (struct inotify_event: wd, mask, cookie, len, name)."""
    names, offset = [], 0
    while offset + 16 <= len(events):
        size = int.from_bytes(events[offset + 12 : offset + 16], sys.byteorder)
        names.append(events[offset + 16 : offset + 16 + size].rstrip(b"\0").decode("utf-8", "surrogateescape"))
        offset += 16 + size
    return names


def find_unused(paths: list[str]) -> set[str]:
    """Those that are this user's, and that no process which we may inspect has mapped or open."""
    inodes: dict[int, str] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            stat = os.lstat(path)
            if stat.st_uid == os.geteuid():
                inodes[stat.st_ino] = path
    for pid in list_pids() if inodes else ():
        for inode in _mapped_inodes(pid):
            inodes.pop(inode, None)
        for link in glob.glob(f"/proc/{pid}/fd/*"):
            with contextlib.suppress(OSError):
                inodes.pop(os.stat(link).st_ino, None)
    return set(inodes.values())


def remove_shared_memory(paths: set[str]) -> list[str]:
    """Removes those that are left, and returns their names."""
    removed = []
    for path in sorted(paths):
        if path.startswith(SHARED_MEMORY) and ".." not in path:
            with contextlib.suppress(OSError):
                os.unlink(path)
                removed.append(os.path.basename(path))
    return removed


def write_reserve(reserve: str, paths: set[str]) -> None:
    """A line for each path, over the reserve's own blocks, which even a full disk has. So the shared memory of a keeper
    that is killed is known to `down`; everything else is in /proc, or was written before."""
    lines = "".join(f"{path}\n" for path in sorted(paths)).encode()[: RESERVE_BYTES - 1] + b"\n"
    with contextlib.suppress(OSError), open(reserve, "r+b") as file:
        file.write(lines)


def read_reserve(reserve: str) -> set[str]:
    """What `write_reserve` has written; what follows it, or was torn, is not a path of shared memory."""
    try:
        with open(reserve, "rb") as file:
            lines = file.read(RESERVE_BYTES).split(b"\n")
    except OSError:
        return set()
    return {path for line in lines if (path := line.decode("utf-8", "replace")).startswith(SHARED_MEMORY)}


class SharedMemoryWatch:
    """`paths` is what the run's processes have made so far."""

    def __init__(self, loop: EventLoop) -> None:
        self.paths: set[str] = set()
        self._looked_s = 0.0
        self._loss_s = 0.0  # when a look last missed one of the run's processes
        self._made: dict[str, float] = {}  # what some process has just made → when that was seen
        self._handle = watch_shared_memory()
        if self._handle is not None:
            loop.selector.register(self._handle, selectors.EVENT_READ, self._note_made)

    def look(self, living: dict[int, int], *, changed: bool, lost: bool) -> None:
        """`changed`: there are new processes, or they are ending. `lost`: one has ended since the last look."""
        now = time.monotonic()
        if changed or now - self._looked_s > LOOK_S:
            self._looked_s = now
            self.paths |= find_shared_memory(living)
        if lost:
            self._loss_s = now
        if self._made:
            self._claim_of_the_dead(now)

    def _note_made(self) -> None:
        """Some process has made some: its owner is looked for now."""
        with contextlib.suppress(OSError):
            if self._handle is not None:
                made = [f"/dev/shm/{name}" for name in parse_inotify(os.read(self._handle, 1 << 16))]
                self._made.update({path: time.monotonic() for path in made if path.startswith(SHARED_MEMORY)})
        self._looked_s = 0.0

    def _claim_of_the_dead(self, now: float) -> None:
        """The owner can be seen while it lives. What no process holds, and was made when one of ours was lost, was made
        by that one: a process that is killed just after it has made some leaves no other trace of it."""
        for path, seen_s in list(self._made.items()):
            if path in self.paths or now - seen_s > CLAIM_S:
                del self._made[path]
        self.paths |= find_unused(
            [path for path, seen_s in self._made.items() if abs(self._loss_s - seen_s) <= CLAIM_S]
        )
