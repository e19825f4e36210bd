"""Renaming a process as setproctitle does: over the memory where its arguments and its environment stood."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

PR_SET_NAME = 15
LIBC = ctypes.CDLL(None)


def set_name(name: str) -> None:
    """What /proc/PID/comm says; 15 bytes of it are kept."""
    LIBC.prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


def set_title(title: str) -> None:
    """The name, and /proc/PID/cmdline too; /proc/PID/environ is zeros afterwards, so nobody sees whose it is, unless
    SPT_NOENV is set."""
    set_name(title)
    fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    # Fields 48, 49 and 51 of proc(5), which counts from 1.
    arg_start, arg_end, env_end = int(fields[45]), int(fields[46]), int(fields[48])
    room = (arg_end if "SPT_NOENV" in os.environ else env_end) - arg_start
    if arg_start and room > 0:
        ctypes.memmove(arg_start, title.encode()[: room - 1].ljust(room, b"\0"), room)
