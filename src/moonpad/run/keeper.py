"""The keeper: owns every process of one run on one host, and leaves none behind.

Standard library only, single-threaded, one file, so that the same bytes can be sent over ssh and run by any
Python ≥ 3.9 (`python3 -I -S -c "$(cat keeper.py)"`). One JSON job comes on standard input (secrets never touch a
disk); it takes the run's lock, detaches, and answers on standard output with one JSON line: {"ok": true, "pid": …} or
{"ok": false, …}.

- Child subreaper: every orphan below it reparents to it, so the set of its descendants is complete however often the
  engine's workers double-fork, call setsid or rename themselves (a rename wipes /proc/PID/environ, so neither name nor
  environment says who owns a process). A cgroup of its own, where one can be made, says the same without parentage.
- Identity is (pid, start time): a recycled pid is never signalled. Signals go through pidfds.
- The engine has a parent-death signal; the owned set stands in `keeper.json`, so that `down` can finish the job
  when the keeper itself was killed.
- Stops by INT (the roots), TERM (all), KILL (all), until a scan finds none; then what the dead leave is removed: shared
  memory, the run's temporary directory, the cgroup.
- What a process leaves outside that tree (a container outlives its killed client) is ended by the process's
  `after_stop` commands, run when none is left, and by its `after_end` commands once the run is over. They stand in
  `keeper.json` until they have succeeded.
- It decides nothing: whether an engine that has ended is started again is said by the controller, a child of it that
  can be killed at any time, over the socket `control.sock` (one JSON line each way; `Control` lists the words).
- The engine writes its log itself, so that nothing of ours can block it; the keeper keeps the file bounded.
- With a lease (`lease_s`, on a host of several) somebody has to say `attend` so often: a rank whose gang is gone, or
  out of reach, ends by itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import glob
import json
import os
import selectors
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

SCHEMA = 2
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
WATCHED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
FATAL = frozenset(
    (
        *(signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE),
        *(signal.SIGKILL, signal.SIGSYS, signal.SIGTRAP),
    )
)

# How often the owned set is looked at, by the age of the generation. An orphan that no snapshot names is lost to `down`
# when the keeper is killed, and an engine forks when it is young. Deaths and requests wake the keeper at once.
TICKS_S = ((10.0, 0.1), (60.0, 0.5), (float("inf"), 2.0))
STOP_LOOK_S = 0.02
NAMED_S = 1.0  # within which the holder of a lock has written who he is
KILL_LIMIT_S = 10.0
CGROUP_LIMIT_S = 2.0
COMMAND_LIMIT_S = 10.0
ASK_LIMIT_S = 5.0
ASK_PATIENCE_S = 60.0  # a daemon that is restarted is away for seconds
BEAT_S = 5.0  # so often the far end of a window hears that we live
WINDOW_LIVES_S = 10.0  # one that ends sooner could not be opened, and is opened again later and later …
WINDOW_PAUSE_S = (0.1, 30.0)  # … at first, at most
ESSENTIAL_AGE_S = 30.0  # compilers and probes of a start are younger when they die
CRASH_GRACE_S = 4.0  # for INT and TERM of an engine that has lost a process or hangs: it has no request to finish
LAST_WORDS_S = 1.0  # for an engine to end by itself after one of its processes has died
CONTROLLER_PAUSE_S = (1.0, 60.0)  # before it is started again: at first, at most
DECISION_LIMIT_S = 900.0
SHARED_LOOK_S = 30.0
SHARED_CLAIM_S = 1.0
LOG_BYTES = 64 << 20
LOG_HEAD_BYTES = 1 << 20
LOGS_KEPT = 3
EVENTS_HELD = 1000
RESERVE = ".reserve"
RESERVE_BYTES = 1 << 16  # given up when the disk is full at the end, so that the last word can be written
REQUEST_BYTES = 1 << 16
LONGEST_S = 86400.0
CLIENTS = 16


# --- what runs: /proc ------------------------------------------------------------------------------------------------


def stat_of(pid: int) -> tuple[int, int, str] | None:
    """(parent pid, start time in clock ticks since boot, state letter) of a process, None where there is none."""
    fields = _stat_fields(pid)
    return (int(fields[1]), int(fields[19]), fields[0].decode()) if fields else None


def _stat_fields(pid: int) -> list[bytes] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    # The name stands in parentheses and may hold anything, ")" too: the last one ends it.
    return text[text.rindex(b")") + 2 :].split()


def is_alive(pid: int, start: int) -> bool:
    """Whether this very process still runs. A zombie has ended: it holds no memory and no port."""
    found = stat_of(pid)
    return found is not None and found[1] == start and found[2] not in "ZX"


def descendants(roots: set[int], without: frozenset[int] = frozenset()) -> dict[int, int]:
    """pid → start time of every living process below the roots, without the roots themselves and without the trees of
    `without`."""
    children: dict[int, list[int]] = {}
    starts: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := stat_of(int(name))) is not None:
            parent, start, state = found
            children.setdefault(parent, []).append(int(name))
            if state not in "ZX":
                starts[int(name)] = start
    below: dict[int, int] = {}
    seen: set[int] = set()
    queue = [child for root in roots for child in children.get(root, ())]
    while queue:
        pid = queue.pop()
        if pid in seen or pid in roots or pid in without:
            continue
        seen.add(pid)
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


def title_of(pid: int, known: str = "") -> str:
    """What a process calls itself: setproctitle's text where there is one, else its program. One that is dying has no
    more than 15 bytes of it left, so what was known stays."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(256).split(b"\0")
        if not words[0]:
            if known:
                return known
            with open(f"/proc/{pid}/comm", "rb") as file:
                words = [file.read(64).strip()]
    except OSError:
        return known
    return os.path.basename(words[0].decode("utf-8", "replace"))[:48]


def age_s(start: int) -> float:
    """Seconds since a start time of `stat_of`."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - start / os.sysconf("SC_CLK_TCK")


def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


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


# struct pidfd_info and PIDFD_GET_INFO of Linux's uapi/linux/pidfd.h; the exit status is there since 6.15, even when
# the parent has collected the process already.
PIDFD_GET_INFO = (3 << 30) | (64 << 16) | (0xFF << 8) | 11
PIDFD_INFO_EXIT = 1 << 3


def exit_status(handle: int, pid: int) -> int | None:
    """The wait status of a process that has ended, whoever its parent is; None where nobody says it any more."""
    status = _collected_status(handle)
    if status is None:
        fields = _stat_fields(pid)
        status = int(fields[49]) if fields and fields[0] in (b"Z", b"X") and len(fields) > 49 else None
    # Its parent may have collected it between the two questions, of which each has an answer on one side of that.
    return _collected_status(handle) if status is None else status


def _collected_status(handle: int) -> int | None:
    info = bytearray(64)
    struct.pack_into("Q", info, 0, PIDFD_INFO_EXIT)
    with contextlib.suppress(OSError):
        fcntl.ioctl(handle, PIDFD_GET_INFO, info)
        if struct.unpack_from("Q", info, 0)[0] & PIDFD_INFO_EXIT:
            return int(struct.unpack_from("i", info, 60)[0])
    return None


def describe_status(status: int | None) -> str:
    """`exit 1`, `SIGKILL`: how a process ended."""
    if status is None:
        return "nobody knows how"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return signal.Signals(number).name if number in signal.valid_signals() else f"signal {number}"
    return f"exit {os.WEXITSTATUS(status)}"


# --- what the dead leave ---------------------------------------------------------------------------------------------

# What multiprocessing, NCCL, torch and vLLM name theirs. Nothing else: a checkpoint may lie in /dev/shm too.
SHARED_MEMORY = ("/dev/shm/psm_", "/dev/shm/sem.mp-", "/dev/shm/nccl-", "/dev/shm/torch_", "/dev/shm/vllm_")
TEMP_PREFIX = "moonpad-"


def shared_memory_of(pids: dict[int, int]) -> set[str]:
    """Paths of the shared memory and semaphores that these processes have mapped: files that nobody removes when they
    are killed, and the engine's are 160 MB of RAM each.

    By their inodes: sem_open(3) maps a file under another name, and links it to its own after that.
    """
    inodes: dict[int, str] = {}
    for path in glob.glob("/dev/shm/*"):
        if path.startswith(SHARED_MEMORY):
            with contextlib.suppress(OSError):
                inodes[os.stat(path).st_ino] = path
    found: set[str] = set()
    for pid in pids if inodes else ():
        found |= {inodes[inode] for inode in mapped_inodes(pid) if inode in inodes}
    return found


def mapped_inodes(pid: int) -> set[int]:
    """Of the files in /dev/shm that the process has mapped."""
    found: set[int] = set()
    with contextlib.suppress(OSError), open(f"/proc/{pid}/maps") as maps:
        for line in maps:  # one by one: what was read of a process that ends meanwhile counts
            if " /dev/shm/" in line:
                found.add(int(line.split(None, 5)[4]))
    return found


IN_CREATE, IN_MOVED_TO = 0x100, 0x80


def watch_shared_memory() -> int | None:
    """A descriptor that can be read when somebody makes shared memory: whose it is can be seen only while its maker
    lives. None where the kernel gives none (inotify(7))."""
    libc = ctypes.CDLL(None)
    handle = int(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    if handle >= 0 and libc.inotify_add_watch(handle, b"/dev/shm", IN_CREATE | IN_MOVED_TO) < 0:
        os.close(handle)
        handle = -1
    return handle if handle >= 0 else None


def made_names(events: bytes) -> list[str]:
    """The names in what `read` gives of an inotify descriptor (struct inotify_event: wd, mask, cookie, len, name)."""
    names, at = [], 0
    while at + 16 <= len(events):
        size = int.from_bytes(events[at + 12 : at + 16], sys.byteorder)
        names.append(events[at + 16 : at + 16 + size].rstrip(b"\0").decode("utf-8", "surrogateescape"))
        at += 16 + size
    return names


def held_by_nobody(paths: list[str]) -> set[str]:
    """Those that are this user's, and that no process has mapped or open: as far as we may look, which is all that may
    have made them."""
    inodes: dict[int, str] = {}
    for path in paths:
        with contextlib.suppress(OSError):
            seen = os.lstat(path)
            if seen.st_uid == os.geteuid():
                inodes[seen.st_ino] = path
    for name in os.listdir("/proc") if inodes else ():
        if not name.isdigit():
            continue
        for inode in mapped_inodes(int(name)):
            inodes.pop(inode, None)
        for link in glob.glob(f"/proc/{name}/fd/*"):
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


def keep_in_reserve(reserve: str, paths: set[str]) -> None:
    """A line for each path, over the reserve's own blocks: these a full disk still has. A keeper that is killed then
    leaves no shared memory that nobody knows of; all else of it is in /proc, or was written before."""
    lines = "".join(f"{path}\n" for path in sorted(paths)).encode()[: RESERVE_BYTES - 1] + b"\n"
    with contextlib.suppress(OSError), open(reserve, "r+b") as file:
        file.write(lines)


def kept_in_reserve(reserve: str) -> set[str]:
    """What `keep_in_reserve` has written; what lies behind it, or was torn, is no path of shared memory."""
    try:
        with open(reserve, "rb") as file:
            lines = file.read(RESERVE_BYTES).split(b"\n")
    except OSError:
        return set()
    return {path for line in lines if (path := line.decode("utf-8", "replace")).startswith(SHARED_MEMORY)}


def temp_path(base: str) -> str:
    """Of a directory of the run's own; it is short: ZeroMQ puts sockets there, whose paths may have 107 bytes."""
    return os.path.join(base, f"{TEMP_PREFIX}{os.getuid()}-{os.getpid()}-{os.urandom(2).hex()}")


def remove_temp_dir(path: str) -> int:
    """Removes it with all that is in it; returns how many files and sockets that were. Nothing but a directory of
    a `temp_path` of this user is touched."""
    import shutil  # here, because it would add to the time until the keeper is there

    if not os.path.basename(path).startswith(f"{TEMP_PREFIX}{os.getuid()}-") or os.path.islink(path):
        return 0
    count = sum(len(files) for _, _, files in os.walk(path))
    shutil.rmtree(path, ignore_errors=True)
    return count


# --- the cgroup, where there is one ----------------------------------------------------------------------------------


def own_cgroup() -> str:
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


def cgroup_path(name: str) -> str:
    """Where one below our own would be; "" where there is no cgroup v2."""
    above = own_cgroup()
    return os.path.join(above, name) if above else ""


def make_cgroup(folder: str) -> str:
    """The folder, or "" where we may not: that is usual, and everything works without."""
    try:
        os.mkdir(folder)
        with open(os.path.join(folder, "cgroup.procs"), "r+"):
            return folder
    except OSError:
        with contextlib.suppress(OSError):
            os.rmdir(folder)
        return ""


def in_cgroup(folder: str) -> dict[int, int]:
    """pid → start time of what lives in it."""
    found: dict[int, int] = {}
    with contextlib.suppress(OSError), open(os.path.join(folder, "cgroup.procs")) as file:
        for line in file:
            if line.strip().isdigit() and (seen := stat_of(int(line))) is not None and seen[2] not in "ZX":
                found[int(line)] = seen[1]
    return found


def kill_cgroup(folder: str) -> None:
    """All of it at once, forks that are under way included (Linux ≥ 5.14)."""
    with contextlib.suppress(OSError), open(os.path.join(folder, "cgroup.kill"), "w") as file:
        file.write("1")


def remove_cgroup(folder: str) -> None:
    """Its processes must have ended. Nothing but a cgroup that `make_cgroup` made is touched."""
    if not os.path.basename(folder).startswith(TEMP_PREFIX):
        return
    until = time.monotonic() + CGROUP_LIMIT_S
    while True:
        try:
            return os.rmdir(folder)
        except OSError as error:  # a process that has ended may have threads that are on their way out: EBUSY
            if error.errno != errno.EBUSY or time.monotonic() > until:
                return
        time.sleep(STOP_LOOK_S)


def oom_kills(cgroup: str) -> int | None:
    """How often the kernel's OOM killer has struck: in our cgroup, or on this machine where the cgroup does not say."""
    inside, place = "", cgroup or own_cgroup()
    with contextlib.suppress(OSError), open("/proc/self/cgroup") as file:
        inside = next((line.split(":", 2)[2].rstrip("\n") for line in file if ":memory:" in line), "")
    for path in (
        os.path.join(place, "memory.events"),
        f"/sys/fs/cgroup/memory{inside}/memory.oom_control",
        "/proc/vmstat",
    ):
        with contextlib.suppress(OSError, ValueError), open(path) as file:
            for line in file:
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    return None


# --- what is written down --------------------------------------------------------------------------------------------


def replace_json(path: str, document: object, mode: int = 0o600) -> None:
    """The old file or the new one, never half of it, and no part of it left."""
    part = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.part")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "w") as file:
            json.dump(document, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


class Journal:
    """`events.jsonl`. What a full disk refuses is held, at most EVENTS_HELD lines, and written when there is room."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.held: list[bytes] = []

    def append(self, event: str, **fields: object) -> None:
        """One line; `t_s` is the machine's monotonic clock, comparable between the processes of one boot."""
        record = {"event": event, "t_s": round(time.monotonic(), 6), "at": round(time.time(), 3), **fields}
        self.held = [*self.held[-EVENTS_HELD + 1 :], json.dumps(record).encode() + b"\n"]
        self.flush()

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            while self.held:
                self._write(self.held[0])
                del self.held[0]

    def _write(self, line: bytes) -> None:
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            # A line that was torn by a full disk has no end: it gets one, or it would take ours with it.
            size = os.fstat(handle).st_size
            torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            self._write_whole(handle, b"\n" + line if torn else line)
            begin = os.lseek(handle, 0, os.SEEK_CUR) - len(line)
            if begin > 0 and os.pread(handle, 1, begin - 1) != b"\n":
                self._write_whole(handle, b"\n" + line)  # between our look and our write another was cut short
        finally:
            os.close(handle)

    @staticmethod
    def _write_whole(handle: int, line: bytes) -> None:
        written = os.write(handle, line)
        if written != len(line):
            raise OSError(f"{written} bytes fitted")


# --- the log ---------------------------------------------------------------------------------------------------------


def shift_logs(log: str) -> None:
    """Makes room at LOG.1; the oldest goes."""
    for number in range(LOGS_KEPT - 1, 0, -1):
        with contextlib.suppress(OSError):
            os.replace(f"{log}.{number}", f"{log}.{number + 1}")


def renew_log(log: str) -> None:
    """For a new generation, when nobody writes any more."""
    with contextlib.suppress(OSError):
        if os.path.getsize(log) > 0:
            shift_logs(log)
            os.replace(log, f"{log}.1")
        os.unlink(f"{log}.head")


def bound_log(log: str, limit_bytes: int) -> int | None:
    """Moves the content of a log that has outgrown the limit to LOG.1, while its writers go on (they append, so they
    go on at the start). The first MiB of a generation is kept as LOG.head. Returns how many bytes were lost between
    the copy and the cut, or because the disk is full; None where nothing was to be done."""
    try:
        if os.path.getsize(log) <= limit_bytes:
            return None
        source = os.open(log, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    copied = 0
    try:
        if not os.path.exists(f"{log}.head"):
            with contextlib.suppress(OSError):
                _copy(source, f"{log}.head", LOG_HEAD_BYTES)
        shift_logs(log)
        with contextlib.suppress(OSError):
            copied = _copy(source, f"{log}.1", 2 * limit_bytes)
        lost = os.fstat(source).st_size - copied
        os.ftruncate(source, 0)
    finally:
        os.close(source)
    return lost


def _copy(source: int, path: str, limit_bytes: int) -> int:
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    done = 0
    try:
        while done < limit_bytes and (moved := os.sendfile(target, source, done, min(1 << 22, limit_bytes - done))):
            done += moved
    except OSError:
        os.unlink(path)
        raise
    finally:
        os.close(target)
    return done


# --- locks -----------------------------------------------------------------------------------------------------------


def take_lock(
    path: str, holder: dict[str, object], mode: int = 0o600, former: dict[str, object] | None = None
) -> int | None:
    """The descriptor of the lock, or None where another holds it. It is the kernel's: it ends with its holder.

    `former` gets what a holder left that ended without letting go. Raises OSError where the file cannot be made.
    """
    while True:
        handle = _open_lock(path, mode)
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
            left = os.pread(handle, 4096, 0)
            with contextlib.suppress(ValueError):
                if former is not None and left:
                    former.update(json.loads(left))
            write_holder(handle, holder)
            return handle
        os.close(handle)


def _open_lock(path: str, mode: int) -> int:
    # Without O_CREAT first: the kernel refuses that on another user's file in a world-writable folder
    # (fs.protected_regular).
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, flags)
        with contextlib.suppress(FileExistsError):
            handle = os.open(path, flags | os.O_CREAT | os.O_EXCL, mode)
            os.fchmod(handle, mode)
            return handle


def write_holder(handle: int, holder: dict[str, object]) -> None:
    """Who holds the lock, for the one who comes too late. A full disk leaves it nameless, and a lock all the same."""
    with contextlib.suppress(OSError):
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(holder).encode(), 0)


def read_holder(path: str) -> dict[str, object]:
    with contextlib.suppress(OSError, ValueError), open(path) as file:
        found = json.loads(file.read(4096))
        return found if isinstance(found, dict) else {}
    return {}


def name_holder(path: str) -> dict[str, object]:
    """Who holds a lock that is held. He writes it down right behind taking it; on a full disk he could not."""
    until = time.monotonic() + NAMED_S
    while not (found := read_holder(path)) and time.monotonic() < until:
        time.sleep(0.01)
    return found


def release_lock(path: str, handle: int) -> None:
    try:
        os.unlink(path)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, 0)  # another user's file, taken over: it cannot be removed, and names nobody
    os.close(handle)


def take_claim(path: str, holder: dict[str, object]) -> int | None:
    """As `take_lock`, in a folder that all users of this machine share: it comes and goes with what is in it."""
    while True:
        before = os.umask(0)
        try:
            os.mkdir(os.path.dirname(path), 0o1777)
        except FileExistsError:
            pass
        finally:
            os.umask(before)
        with contextlib.suppress(FileNotFoundError):  # its last user has just removed it
            return take_lock(path, holder, 0o666)


# --- stopping --------------------------------------------------------------------------------------------------------


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
    `kill()` is done beside each KILL. Returns the last signal that was needed ("" for none), what was killed, and what
    is left.
    """
    used = ""
    killed: set[tuple[int, int]] = set()
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
                return {"signal": used, "killed": len(killed), "left": []}
            if time.monotonic() >= until or (name != "KILL" and hurry()):
                break
            if name == "INT" and not roots & set(living):
                break  # nobody is left who would end the others
            for pid, start in living.items():
                if (name == "INT" and pid not in roots) or ((pid, start) in told and name != "KILL"):
                    continue
                told.add((pid, start))
                if send(pid, start, number):
                    used = name
                    if name == "KILL":
                        killed.add((pid, start))
            if name == "KILL":
                kill()
            pause(STOP_LOOK_S)
    return {"signal": used, "killed": len(killed), "left": sorted(find())}


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
            with contextlib.suppress(OSError):
                os.write(handle, f"{error}\n".encode())
            done = False
        finally:
            os.close(handle)
    return done


def answer_of(command: list[str]) -> str | None:
    """What a command prints, None where it fails or takes longer than ASK_LIMIT_S."""
    import subprocess

    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=ASK_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None


def remove_leftovers(document: dict[str, Any], shared: set[str]) -> dict[str, object]:
    """What the processes of a `keeper.json` have left, now that none of them lives."""
    remove_cgroup(document.get("cgroup") or "")
    return {
        "shared_memory_removed": remove_shared_memory(shared | set(document.get("shared_memory") or ())),
        "temp_files_removed": remove_temp_dir(document.get("temp_dir") or ""),
    }


# --- waiting: signals, deaths, requests ------------------------------------------------------------------------------


class Loop:
    """One place to wait in, for signals, for the deaths of processes and for requests."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.asked = 0  # signals that ask for a stop, since the last look
        self.ended: list[tuple[int, int, int | None]] = []  # (pid, start, wait status) of watched processes
        self.watched: dict[tuple[int, int], int] = {}
        read, self.wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        for number in WATCHED:
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(self.wakeup, warn_on_full_buffer=False)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # whoever started us held them back
        self.selector.register(read, selectors.EVENT_READ, lambda: self._signals(read))

    def wait(self, timeout_s: float) -> None:
        for key, _ in self.selector.select(max(0.0, timeout_s)):
            key.data()

    def watch(self, pid: int, start: int) -> None:
        """From now on its death wakes us."""
        if (pid, start) in self.watched:
            return
        try:
            handle = os.pidfd_open(pid)
        except OSError:
            return
        if not is_alive(pid, start):
            os.close(handle)
            return
        self.watched[pid, start] = handle
        self.selector.register(handle, selectors.EVENT_READ, lambda: self._death(pid, start))

    def forget(self) -> None:
        """Whatever was watched has ended, and matters no more."""
        for handle in self.watched.values():
            self.selector.unregister(handle)
            os.close(handle)
        self.watched, self.ended = {}, []

    def _death(self, pid: int, start: int) -> None:
        handle = self.watched.pop((pid, start))
        self.selector.unregister(handle)
        self.ended.append((pid, start, exit_status(handle, pid)))
        os.close(handle)

    def _signals(self, read: int) -> None:
        with contextlib.suppress(BlockingIOError):
            self.asked += sum(number != signal.SIGCHLD for number in os.read(read, 512))


class Control:
    """`control.sock`: one JSON line in, one out, from our own user only. What a client does can never block us.

    status · attend · ready {generation} · stop {drain_s, grace_s, reason} · hurry · fail {reason} · cycle {reason} ·
    start · end {reason}
    """

    def __init__(self, loop: Loop, obey: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        self.loop = loop
        self.obey = obey
        self.clients: dict[socket.socket, bytes] = {}
        with contextlib.suppress(FileNotFoundError):
            os.unlink("control.sock")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            self.listener.bind("control.sock")  # in the run folder: its whole path may be longer than a socket's
        finally:
            os.umask(before)
        self.listener.listen()
        self.listener.setblocking(False)
        loop.selector.register(self.listener, selectors.EVENT_READ, self._accept)

    def _accept(self) -> None:
        try:
            client, _ = self.listener.accept()
        except OSError:
            return
        client.setblocking(False)
        uid = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        if uid not in (os.getuid(), 0):
            client.close()
            return
        if len(self.clients) >= CLIENTS:
            self._drop(next(iter(self.clients)))  # the oldest, which has said nothing
        self.clients[client] = b""
        self.loop.selector.register(client, selectors.EVENT_READ, lambda: self._read(client))

    def _read(self, client: socket.socket) -> None:
        try:
            piece = client.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        said = self.clients[client] + piece
        self.clients[client] = said
        if b"\n" in said:
            self._answer(client, said.split(b"\n", 1)[0])
        elif not piece or len(said) > REQUEST_BYTES:
            self._drop(client)

    def _answer(self, client: socket.socket, line: bytes) -> None:
        try:
            request = json.loads(line)
            answer = self.obey(request) if isinstance(request, dict) else {"ok": False, "why": "no object"}
        except (ValueError, RecursionError, TypeError) as error:
            answer = {"ok": False, "why": str(error)}
        with contextlib.suppress(OSError):
            client.send(json.dumps(answer).encode() + b"\n")
        self._drop(client)

    def _drop(self, client: socket.socket) -> None:
        self.loop.selector.unregister(client)
        del self.clients[client]
        client.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.unlink("control.sock")
        self.listener.close()


# --- the keeper itself -----------------------------------------------------------------------------------------------


def set_process_option(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


def spawn(
    argv: list[str],
    env: dict[str, str],
    log: str,
    folder: str,
    death_signal: int,
    cgroup: str = "",
    stdin: int | None = None,
) -> tuple[int, int]:
    """(pid, start time) of a child in a session of its own, its output appended to `log`. Raises OSError where it
    cannot be executed."""
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    came_back, tell = os.pipe2(os.O_CLOEXEC)
    keeper_pid = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            signal.set_wakeup_fd(-1)  # ours, and a signal here is not for us
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and that would be inherited
            os.setsid()  # the terminal's Ctrl-C is ours to translate
            set_process_option(PR_SET_PDEATHSIG, death_signal)
            if os.getppid() != keeper_pid:
                os._exit(1)
            if cgroup:
                with contextlib.suppress(OSError), open(os.path.join(cgroup, "cgroup.procs"), "w") as file:
                    file.write("0")
            os.dup2(os.open(os.devnull, os.O_RDONLY) if stdin is None else stdin, 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.chdir(folder)
            os.execvpe(argv[0], argv, env)
        except OSError as error:
            os.write(tell, f"{argv[0]}: {error.strerror}".encode())
        finally:
            os._exit(127)
    os.close(tell)
    os.close(output)
    with os.fdopen(came_back, "rb") as pipe:
        trouble = pipe.read().decode()
    if trouble:
        os.waitpid(pid, 0)
        raise OSError(trouble)
    found = stat_of(pid)
    return pid, found[1] if found else 0


class Keeper:
    """One run's processes. `job` is what the launcher sent; see `run/launch.py` for its keys."""

    def __init__(self, job: dict[str, Any], loop: Loop) -> None:
        self.job = job
        self.loop = loop
        self.folder: str = job["run_dir"]
        self.journal = Journal(os.path.join(self.folder, "events.jsonl"))
        self.logs = sorted({process["log"] for process in job["processes"]})
        self.state, self.because = "running", "its processes run"
        self.generation = 1
        self.begun = self.attended = time.monotonic()
        self.was_ready, self.ready_generation = False, 0
        self.roots: dict[int, tuple[str, int]] = {}  # pid → (process name, start time)
        self.titles: dict[tuple[int, int], str] = {}
        self.ready_at = float("-inf")  # when we were told that this generation is ready: what is older counts
        self.deaths: list[dict[str, object]] = []
        self.early_deaths: list[tuple[float, dict[str, object]]] = []  # of the young: when, and who
        self.mourned: tuple[float, str] | None = None  # until when the engine may end by itself, and who has died
        self.ended: list[tuple[str, str]] = []  # the roots that ended, and how, in their order
        self.beats: dict[str, int] = {}  # by process: the end of a pipe that is written to as long as we live
        self.beaten = 0.0
        self.request: dict[str, Any] | None = None  # what somebody has asked for and is not done yet
        self.hurry = False
        self.windows_lost, self.window_begun = 0, 0.0
        self.former_roots: set[int] = set()
        self.written: dict[str, Any] | None = None
        self.shared: set[str] = set()
        self.shared_looked = 0.0
        self.shared_watch = watch_shared_memory()
        if self.shared_watch is not None:
            loop.selector.register(self.shared_watch, selectors.EVENT_READ, self.see_shared_memory)
        self.shared_made: dict[str, float] = {}  # what somebody has made just now → when that was seen
        self.living: set[tuple[int, int]] = set()  # at the last look
        self.loss_seen = 0.0  # when a look last missed one of them
        self.log_turns, self.log_lost = 0, 0
        self.after_stop: list[list[list[str]]] = []  # of each process; gone when its last command has succeeded
        self.after_end = [one["after_end"] for one in job["processes"] if one.get("after_end")]
        self.oom_before: int | None = None
        self.controller: tuple[int, int] | None = None
        self.controller_starts, self.controller_begun, self.controller_due = 0, 0.0, 0.0
        # Both are written down before they are made: a keeper that is killed in between leaves nothing unknown.
        self.cgroup = cgroup_path(f"{TEMP_PREFIX}{os.getuid()}-{os.getpid()}") if job["cgroup"] else ""
        self.temp_dir = ""
        self.reserve = os.path.join(self.folder, RESERVE)
        with open(self.reserve, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, RESERVE_BYTES)

    # - what is looked at -

    def owned(self) -> dict[int, int]:
        """pid → start time of the gang; the controller is not of it."""
        without = frozenset((self.controller[0],) if self.controller else ())
        found = descendants({os.getpid()}, without)
        return {**found, **in_cgroup(self.cgroup)} if self.cgroup else found

    def look(self) -> dict[int, int]:
        """The owned set, each of it known by title and watched for its death."""
        living = self.owned()
        if len(self.titles) > 2 * len(living) + 64:
            self.titles = {one: title for one, title in self.titles.items() if living.get(one[0]) == one[1]}
        fresh = [one for one in living.items() if one not in self.titles]
        for one in fresh:
            self.titles[one] = ""
            self.loop.watch(*one)
        for one in living.items():
            # A process renames itself some time after its start.
            if not self.titles[one] or age_s(one[1]) < ESSENTIAL_AGE_S:
                self.titles[one] = title_of(one[0], self.titles[one])
        now = time.monotonic()
        if fresh or now - self.shared_looked > SHARED_LOOK_S or self.state != "running":
            self.shared_looked = now
            self.shared |= shared_memory_of(living)
        if not self.living <= living.items():
            self.loss_seen = now
        self.living = set(living.items())
        if self.shared_made:
            self.claim_of_the_dead(now)
        return living

    def see_shared_memory(self) -> None:
        """Somebody has made some: it is looked for at the next look, which is now."""
        with contextlib.suppress(OSError):
            if self.shared_watch is not None:
                names = made_names(os.read(self.shared_watch, 1 << 16))
                paths = [f"/dev/shm/{name}" for name in names]
                self.shared_made |= {path: time.monotonic() for path in paths if path.startswith(SHARED_MEMORY)}
        self.shared_looked = 0.0

    def claim_of_the_dead(self, now: float) -> None:
        """Whose it is can be seen while its maker lives. What nobody holds, and was made when one of ours was lost, was
        that one's: a process that is killed just after it has made some leaves no other trace of it."""
        for path, seen in list(self.shared_made.items()):
            if path in self.shared or now - seen > SHARED_CLAIM_S:
                del self.shared_made[path]
        lost = [path for path, seen in self.shared_made.items() if abs(self.loss_seen - seen) <= SHARED_CLAIM_S]
        self.shared |= held_by_nobody(lost)

    @property
    def lost(self) -> str:
        """Which process the engine cannot do without any more, while it is given time to end by itself."""
        return self.mourned[1] if self.mourned else ""

    def snapshot(self, living: dict[int, int]) -> None:
        """`keeper.json`, where anything in it has changed."""
        own = stat_of(os.getpid())
        document = {
            "schema": SCHEMA,
            "state": self.state,
            "because": self.because,
            "boot_id": boot_id(),
            "keeper": {"pid": os.getpid(), "start": own[1] if own else 0},
            "controller": {"pid": self.controller[0], "start": self.controller[1]} if self.controller else None,
            "generation": self.generation,
            "lost": self.lost,
            "roots": [{"name": name, "pid": pid, "start": start} for pid, (name, start) in self.roots.items()],
            "owned": [
                {"pid": pid, "start": start, "title": self.titles.get((pid, start), "")}
                for pid, start in sorted(living.items())
            ],
            "after_stop": self.after_stop,
            "after_end": self.after_end,
            "temp_dir": self.temp_dir,
            "cgroup": self.cgroup,
            "shared_memory": sorted(self.shared),
            "log": {"rotations": self.log_turns, "dropped_bytes": self.log_lost},
        }
        if document == self.written:
            return
        # A full disk must not end the engine; the lock and /proc still tell the truth. It is tried again at each tick.
        try:
            replace_json(os.path.join(self.folder, "keeper.json"), document)
            self.written = document
        except OSError:
            keep_in_reserve(self.reserve, self.shared)

    def tick(self) -> None:
        """Everything that has to be done from time to time, whatever the state."""
        self.reap()
        self.notice_deaths()
        self.keep_controller()
        self.beat()
        for log in self.logs:
            lost = bound_log(log, self.job["log_bytes"])
            if lost is not None:
                self.log_turns, self.log_lost = self.log_turns + 1, self.log_lost + lost
        self.journal.flush()
        self.snapshot(self.look())

    def reap(self) -> None:
        """Collects every child that has ended; notes the roots."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self.controller and pid == self.controller[0]:
                self.lose_controller(status)
            elif pid in self.roots:
                self.ended.append((self.roots[pid][0], describe_status(status)))

    def notice_deaths(self) -> None:
        """An engine may live on, and answer /health, when the process that computes has died."""
        while self.loop.ended:
            pid, start, status = self.loop.ended.pop(0)
            title = self.titles.pop((pid, start), "")
            if status is None or not os.WIFSIGNALED(status) or os.WTERMSIG(status) not in FATAL:
                continue
            if self.state != "running" or pid in self.roots or pid in self.former_roots:
                continue
            died = {"pid": pid, "title": title, "how": describe_status(status)}
            now, age = time.monotonic(), age_s(start)
            if age > ESSENTIAL_AGE_S or now - age < self.ready_at:
                self.mourn(died)
            else:
                self.early_deaths = [*self.early_deaths, (now, died)][-64:]

    def mourn(self, died: dict[str, object]) -> None:
        self.journal.append("died", **died)
        self.deaths = [*self.deaths, died][:64]
        if self.mourned is None:
            what = f"{died['title'] or 'a process'} (pid {died['pid']}) died: {died['how']}"
            self.mourned = (time.monotonic() + LAST_WORDS_S, what)

    # - the controller -

    def keep_controller(self) -> None:
        wanted = self.job.get("controller")
        if not wanted or self.controller or time.monotonic() < self.controller_due:
            return
        self.controller_begun = time.monotonic()
        self.controller_starts += 1
        try:
            log = os.path.join(self.folder, "controller.log")
            self.controller = spawn(wanted["argv"], wanted["env"], log, self.folder, signal.SIGKILL)
        except OSError as error:
            self.journal.append("controller_ended", how=str(error))
            self.controller_due = time.monotonic() + CONTROLLER_PAUSE_S[1]
            return
        self.journal.append("controller_started", pid=self.controller[0], starts=self.controller_starts)

    def lose_controller(self, status: int) -> None:
        if not self.job["controller"]:
            return  # it was ended by us
        first, most = CONTROLLER_PAUSE_S
        now = time.monotonic()
        lived_long = now - self.controller_begun > most
        self.controller = None
        self.controller_starts = 1 if lived_long else self.controller_starts
        pause = min(most, first * 2 ** min(self.controller_starts - 1, 10))
        self.controller_due = now + pause
        self.journal.append("controller_ended", how=describe_status(status), again_in_s=pause)

    def end_controller(self) -> None:
        self.job["controller"] = None
        until = time.monotonic() + LAST_WORDS_S
        number = signal.SIGTERM
        while self.controller and is_alive(*self.controller) and time.monotonic() < until + KILL_LIMIT_S:
            send(*self.controller, number)
            if time.monotonic() > until:
                number = signal.SIGKILL
            self.loop.wait(STOP_LOOK_S)
            self.reap()
        self.controller = None
        with contextlib.suppress(OSError):
            for name in os.listdir(self.folder):  # it was in the middle of a write
                if name.startswith(".controller.json.") and name.endswith(".part"):
                    os.unlink(os.path.join(self.folder, name))

    # - what is asked of it -

    def obey(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request of the control socket; the work itself is done by `run`."""
        do = request.get("do")
        for name in ("drain_s", "grace_s"):
            seconds = request.get(name, 0.0)
            if not isinstance(seconds, (int, float)) or not 0 <= seconds <= LONGEST_S:
                return {"ok": False, "why": f"{name} must be a number of seconds, at most {LONGEST_S:.0f}"}
        running, waiting = self.state == "running", self.state == "waiting"
        if do == "status":
            status = {
                "state": self.state,
                "because": self.because,
                "generation": self.generation,
                "ready": self.ready_generation == self.generation,
                "lost": self.lost,
                "controller": {"pid": self.controller[0], "start": self.controller[1]} if self.controller else None,
            }
            return {"ok": True, "pid": os.getpid(), **status}
        if do == "attend":
            self.attended = time.monotonic()
            return {"ok": True}
        if do == "ready":
            if request.get("generation") != self.generation or not running:
                return {"ok": False, "why": f"generation {self.generation} is {self.state}"}
            self.look()
            self.was_ready, self.ready_generation, self.ready_at = True, self.generation, time.monotonic()
            # What died after the first token was asked for had its part in it, however young it was.
            asked_s = request.get("asked_s")
            relied_on = [died for at, died in self.early_deaths if isinstance(asked_s, (int, float)) and at >= asked_s]
            self.early_deaths = []
            for died in relied_on:
                self.mourn(died)
            return {"ok": True}
        if do == "hurry":
            self.hurry = True
            self.request = self.request or {"do": "stop"}
            return {"ok": True}
        if do == "stop" or (do in ("fail", "cycle") and running) or (do in ("start", "end") and waiting):
            if self.request is None or do == "stop":
                self.request = request
            return {"ok": True}
        return {"ok": False, "why": f"{do!r} means nothing while it is {self.state}"}

    def asked(self) -> bool:
        """Whether somebody wants something; a signal is the request to stop."""
        if self.loop.asked and self.request is None:
            self.loop.asked -= 1
            self.request = {"do": "stop"}
        return self.request is not None

    def hurried(self) -> bool:
        """A second request to stop while stopping means: now."""
        if self.loop.asked:
            self.hurry = True
        return self.hurry

    # - one generation -

    def start(self) -> None:
        """Starts the processes in their order. Raises OSError where one cannot be executed."""
        self.begun = self.attended = time.monotonic()
        self.state, self.because = "running", "its processes run"
        self.mourned, self.ended, self.request = None, [], None
        self.ready_at, self.deaths, self.early_deaths = float("-inf"), [], []
        self.roots, self.hurry = {}, False
        self.windows_lost, self.window_begun, self.former_roots = 0, 0.0, set()
        self.loop.forget()
        self.oom_before = oom_kills(self.cgroup)
        self.after_stop = [one["after_stop"] for one in self.job["processes"] if one["after_stop"]]
        for log in self.logs:
            renew_log(log)
        self.temp_dir = temp_path(self.job["temp_base"]) if self.job["temp_base"] else ""
        self.snapshot({})  # what is to be done after a stop must be known before there is anything to stop
        if self.temp_dir:
            os.mkdir(self.temp_dir, 0o700)
        for process in self.job["processes"]:
            self.start_process(process, process["argv"])
            self.snapshot(self.look())
        self.keep_controller()

    def start_process(self, process: dict[str, Any], argv: list[str]) -> None:
        env = {**process["env"], **({"TMPDIR": self.temp_dir} if self.temp_dir else {})}
        stdin = self.new_beats(process["name"]) if process.get("beats") else None
        try:
            pid, start = spawn(argv, env, process["log"], self.folder, signal.SIGTERM, self.cgroup, stdin)
        finally:
            if stdin is not None:
                os.close(stdin)
        self.roots[pid] = (process["name"], start)
        self.journal.append("spawned", process=process["name"], pid=pid, generation=self.generation)

    def new_beats(self, name: str) -> int:
        """The reading end of a pipe that is written to while we live, and ends with us."""
        if name in self.beats:
            os.close(self.beats.pop(name))
        reading, self.beats[name] = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(reading, True)
        return reading

    def beat(self) -> None:
        if self.beats and time.monotonic() - self.beaten >= BEAT_S:
            self.beaten = time.monotonic()
            for handle in self.beats.values():
                with contextlib.suppress(OSError):  # nobody reads it any more, or not just now
                    os.write(handle, b"\n")

    def wait(self) -> str:
        """Until a root ends, a process that matters dies, or somebody asks. Returns the reason; `self.request` says
        whether somebody asked."""
        while True:
            now = time.monotonic()
            pause = next(pause for age, pause in TICKS_S if now - self.begun < age)
            if self.mourned:
                pause = min(pause, max(0.0, self.mourned[0] - now))
            self.loop.wait(pause)
            time.sleep(STOP_LOOK_S / 2)  # whoever wakes us often does not get all of a core
            self.tick()
            if self.asked():
                return str(self.request.get("reason") or "asked to stop") if self.request else ""
            after = f", after {self.mourned[1]}" if self.mourned else ""
            if self.ended:
                if not after and self.reattached():
                    continue
                if self.asked():
                    return "asked to stop"
                return "{} ended: {}{}".format(*self.ended[0], after)
            if self.mourned and time.monotonic() >= self.mourned[0]:
                return self.mourned[1]
            if (lease_s := self.job.get("lease_s")) and time.monotonic() - self.attended > lease_s:
                return f"nobody has asked after it for {lease_s:g} s"

    def reattached(self) -> bool:
        """A root that is only the window of something else (a docker client) is opened again where that still runs.
        Asked, never assumed: a daemon that is restarted answers after a while."""
        name = self.ended[0][0]
        process = next((one for one in self.job["processes"] if one["name"] == name), None)
        if not process or not process.get("reattach"):
            return False
        ask, argv = process["reattach"]
        lived = time.monotonic() - self.window_begun
        self.windows_lost = self.windows_lost + 1 if lived < WINDOW_LIVES_S else 0
        first, most = WINDOW_PAUSE_S
        due = time.monotonic() + min(most, first * 2 ** min(self.windows_lost, 10)) * (self.windows_lost > 0)
        while time.monotonic() < due and not self.asked():
            self.loop.wait(due - time.monotonic())
            self.tick()
        patience_s = process.get("patience_s") or ASK_PATIENCE_S
        until, pause = time.monotonic() + patience_s, 0.1
        while time.monotonic() < until and not self.asked():
            answer = answer_of(ask)
            if answer == "":
                return False
            if answer is not None:
                self.window_begun = time.monotonic()
                self.ended.pop(0)
                self.former_roots |= {pid for pid, root in self.roots.items() if root[0] == name}
                self.roots = {pid: root for pid, root in self.roots.items() if root[0] != name}
                with contextlib.suppress(OSError):
                    self.start_process(process, argv)
                    self.journal.append("reattached", process=name, to=answer[:200])
                    return True
                self.ended.insert(0, (name, "it cannot be attached to again"))
                return False
            self.loop.wait(pause)
            self.tick()
            pause = min(2.0, pause * 2)
        self.ended[0] = (name, f"{self.ended[0][1]}, and it could not be asked after for {patience_s:.0f} s")
        return False

    def stop(self, request: dict[str, Any]) -> dict[str, object]:
        """Stops whatever is left of the gang, and removes what it leaves. Returns what an event says of it."""
        self.state = "stopping"
        self.journal.append("stopping", reason=self.because, generation=self.generation)
        drain_s = float(request.get("drain_s") or 0.0)
        living = self.look()
        self.snapshot(living)
        if drain_s > 0 and living:
            self.drain(drain_s)
        longest_s = self.job["grace_s"] if request["do"] == "stop" else min(self.job["grace_s"], CRASH_GRACE_S)
        grace_s = float(request.get("grace_s", longest_s))

        def kill() -> None:
            if self.cgroup:
                kill_cgroup(self.cgroup)

        result = stop_all(self.look, set(self.roots), grace_s, self.reap, self.hurried, self.loop.wait, kill)
        ended = self.finish_after_stop(grace_s)
        left: dict[str, object] = {}
        if not result["left"]:
            left = remove_leftovers({"temp_dir": self.temp_dir}, self.shared)
            self.shared, self.temp_dir = set(), ""
        oom_after = oom_kills(self.cgroup)
        killed = None if oom_after is None or self.oom_before is None else oom_after - self.oom_before
        said: dict[str, object] = {**result, **left, "oom_kills": killed, "deaths": self.deaths}
        if not ended:
            said["after_stop_failed"] = True
        return {**said, "generation": self.generation}

    def drain(self, drain_s: float) -> None:
        """The roots are told to end, and have `drain_s` to finish what runs; the ranks on other hosts serve until all
        here have."""
        self.journal.append("draining", drain_s=drain_s)
        there = {pid for pid, (name, _) in self.roots.items() if name in self.beats}
        for pid, (_, start) in self.roots.items():
            if pid not in there:
                send(pid, start, signal.SIGTERM)
        until = time.monotonic() + drain_s
        while time.monotonic() < until and not self.hurried():
            self.reap()
            self.beat()
            if self.look().keys() <= there:
                return
            self.loop.wait(0.05)

    def finish_after_stop(self, patience_s: float) -> bool:
        """Runs the `after_stop` commands, again and again while they fail. Whether nothing is left to be done."""
        until, pause = time.monotonic() + patience_s, 0.1
        while self.after_stop:
            log = os.path.join(self.folder, "keeper.log")
            self.after_stop = [commands for commands in self.after_stop if not run_commands(commands, log)]
            if not self.after_stop or time.monotonic() >= until or self.hurried():
                break
            self.loop.wait(pause)
            self.reap()
            pause = min(2.0, pause * 2)
        self.reap()
        return not self.after_stop

    # - all of them -

    def run(self) -> None:
        """Starts the gang, waits, stops whatever is left; again where the controller says so."""
        while True:
            try:
                self.start()
                self.because = self.wait()
            except OSError as error:
                self.because, self.request = f"could not start: {error}", {"do": "fail"}
            request = self.request or {"do": "crash"}
            self.request = None
            said = self.stop(request)
            clean = not said["left"] and not self.after_stop
            may = self.was_ready and self.job["restarts"] > 0 and self.job["controller"] and clean
            if request["do"] in ("crash", "cycle") and may:
                self.journal.append("ended", reason=self.because, **said)
                if self.await_decision():
                    self.generation += 1
                    continue
                request = self.request or {"do": "end"}
            return self.finish(request, said)

    def await_decision(self) -> bool:
        """Whether the gang is to be started again. Nothing of it runs meanwhile."""
        self.state = "waiting"
        until = time.monotonic() + DECISION_LIMIT_S
        while time.monotonic() < until:
            self.tick()
            if self.asked():
                return bool(self.request and self.request["do"] == "start")
            self.loop.wait(TICKS_S[1][1])
        self.because = f"{self.because}; no decision came in {DECISION_LIMIT_S:.0f} s"
        return False

    def finish(self, request: dict[str, Any], said: dict[str, object]) -> None:
        asked = request["do"] == "stop"
        if asked or request["do"] == "end":
            self.because = str(request.get("reason") or (self.because if not asked else "asked to stop"))
        self.end_controller()
        if self.cgroup and not said["left"]:
            remove_cgroup(self.cgroup)
        self.after_stop, self.after_end = self.after_stop + self.after_end, []
        if self.after_stop and not self.finish_after_stop(self.job["grace_s"]):
            said["after_stop_failed"] = True
        self.state = "stopped" if asked else "failed"
        with contextlib.suppress(OSError):
            os.unlink(self.reserve)
        self.journal.append(self.state, reason=self.because, **said)
        self.snapshot(self.owned())


def main() -> int:
    job = json.load(sys.stdin)
    former: dict[str, object] = {}
    holder = {**job["holder"], "pid": os.getpid()}
    locks: list[tuple[str, int]] = []

    def refuse(why: str, **fields: object) -> int:
        for path, handle in locks:
            release_lock(path, handle)
        print(json.dumps({"ok": False, "why": why, **fields}), flush=True)
        return 0

    try:
        lock = take_lock(job["lock"], holder, former=former)
        if lock is None:
            return refuse("locked", holder=name_holder(job["lock"]))
        locks.append((job["lock"], lock))
        for path in job["claims"]:
            claim = take_claim(path, holder)
            if claim is None:
                return refuse("claimed", claim=path, holder=name_holder(path))
            locks.append((path, claim))
        os.chdir(job["run_dir"])
        if job["pointer"]:
            replace_json(job["pointer"]["path"], job["pointer"]["document"])
    except OSError as error:
        return refuse("unwritable", error=str(error))
    if job["foreground_of"]:
        # Nobody is left to ask for a stop once the foreground command is gone.
        set_process_option(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != job["foreground_of"]:
            return refuse("alone")
    elif os.fork() > 0:
        os._exit(0)
    if os.getsid(0) != os.getpid():
        os.setsid()
    set_process_option(PR_SET_CHILD_SUBREAPER, 1)
    loop = Loop()
    for _, handle in locks:
        write_holder(handle, {**holder, "pid": os.getpid()})
    try:
        kept = Keeper(job, loop)
        control = Control(loop, kept.obey)
    except OSError as error:
        return refuse("unwritable", error=str(error))
    kept.snapshot({})  # before the answer: whoever gets it may look at once
    kept.cgroup = make_cgroup(kept.cgroup) if kept.cgroup else ""
    if former:
        kept.journal.append("lock_taken_over", holder=former)
    print(json.dumps({"ok": True, "pid": os.getpid()}), flush=True)
    detach_streams(os.path.join(job["run_dir"], "keeper.log"))
    try:
        kept.run()
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        control.close()
        for path, handle in reversed(locks):
            release_lock(path, handle)
        for path in job["claims"]:
            with contextlib.suppress(OSError):  # others hold claims there
                os.rmdir(os.path.dirname(path))
    return 0


def detach_streams(log: str) -> None:
    """Lets go of the launcher's pipes; what the keeper itself has to say goes to `keeper.log`."""
    null = os.open(os.devnull, os.O_RDWR)
    try:
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        handle = os.dup(null)
    os.dup2(null, 0)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)
    os.close(null)


if __name__ == "__main__":
    sys.exit(main())
