"""Linux processes as /proc shows them. A process is (pid, start time), so that a recycled pid is never taken for it.

Standard library only, Python ≥ 3.9: the keeper takes this file to other hosts.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct
import time
from collections.abc import Iterator
from typing import NamedTuple

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class ProcessStat(NamedTuple):
    """`start` is in clock ticks since boot, `state` is the letter of proc_pid_stat(5)."""

    parent: int
    start: int
    state: str

    @property
    def runs(self) -> bool:
        """A zombie has ended: it holds no memory and no port."""
        return self.state not in "ZX"


def read_stat(pid: int) -> ProcessStat | None:
    """None where there is no such process."""
    fields = _stat_fields(pid)
    return ProcessStat(int(fields[1]), int(fields[19]), fields[0].decode()) if fields else None


def _stat_fields(pid: int) -> list[bytes] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    # The name stands in parentheses and may hold anything, ")" too: the last one ends it.
    return text[text.rindex(b")") + 2 :].split()


def read_start(pid: int) -> int:
    """The start time of a process that certainly exists, such as our own; 0 where it does not."""
    stat = read_stat(pid)
    return stat.start if stat else 0


def is_alive(pid: int, start: int) -> bool:
    """Whether this very process still runs."""
    stat = read_stat(pid)
    return stat is not None and stat.start == start and stat.runs


def list_pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def find_descendants(roots: set[int], without: int | None = None) -> dict[int, int]:
    """pid → start time of every living process below the roots, without the roots themselves and without the tree of
    `without`."""
    children: dict[int, list[int]] = {}
    starts: dict[int, int] = {}
    for pid in list_pids():
        if (stat := read_stat(pid)) is not None:
            children.setdefault(stat.parent, []).append(pid)
            if stat.runs:
                starts[pid] = stat.start
    below: dict[int, int] = {}
    seen = {*roots, without}
    queue = [child for root in roots for child in children.get(root, ())]
    while queue:
        pid = queue.pop()
        if pid in seen:
            continue
        seen.add(pid)
        if pid in starts:
            below[pid] = starts[pid]
        queue.extend(children.get(pid, ()))
    return below


def find_writers(log: str) -> dict[int, int]:
    """pid → start time of every other living process whose stdout or stderr is this file, detached or not."""
    writers: dict[int, int] = {}
    log = os.path.realpath(log)
    for pid in list_pids():
        for stream in (1, 2):
            with contextlib.suppress(OSError):  # it has just ended, or is another user's
                same = pid != os.getpid() and os.readlink(f"/proc/{pid}/fd/{stream}") == log
                if same and (stat := read_stat(pid)) is not None and stat.runs:
                    writers[pid] = stat.start
    return writers


def read_title(pid: int, earlier: str = "") -> str:
    """What a process calls itself: setproctitle's text where there is one, else its program. A dying process has at
    most 15 bytes of it left, so its earlier title is kept."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read(256).split(b"\0")
        if not words[0]:
            if earlier:
                return earlier
            with open(f"/proc/{pid}/comm", "rb") as file:
                words = [file.read(64).strip()]
    except OSError:
        return earlier
    return os.path.basename(words[0].decode("utf-8", "replace"))[:48]


def age_s(start: int) -> float:
    """Seconds since a start time of `read_stat`."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - start / os.sysconf("SC_CLK_TCK")


def read_boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def send_signal(pid: int, start: int, number: int) -> bool:
    """Signals this very process; False where it has ended. The pidfd is opened before the start time is compared, so
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


def set_process_option(option: int, value: int) -> None:
    """prctl(2)."""
    import ctypes  # not at the start of every verb

    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


# struct pidfd_info and PIDFD_GET_INFO of Linux's uapi/linux/pidfd.h; the exit status is there since 6.15, even when
# the parent has collected the process already.
PIDFD_GET_INFO = (3 << 30) | (64 << 16) | (0xFF << 8) | 11
PIDFD_INFO_EXIT = 1 << 3


def read_exit_status(handle: int, pid: int) -> int | None:
    """The wait status of a process that has ended, by its pidfd and pid, whatever its parent is; None where the kernel
    no longer has it."""
    status = _collected_status(handle)
    if status is None:
        fields = _stat_fields(pid)
        status = int(fields[49]) if fields and fields[0] in (b"Z", b"X") and len(fields) > 49 else None
    # The parent may have collected it between the two reads, each of which has an answer on one side of that.
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
        return "cause unknown"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return signal.Signals(number).name if number in signal.valid_signals() else f"signal {number}"
    return f"exit {os.WEXITSTATUS(status)}"
