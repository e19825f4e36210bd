"""Mounts of one's own: a small disk that can be filled; a /dev/shm and a /tmp in which only we leave something."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

LABEL = "moonpad-test"
SHARED_MEMORY = Path("/dev/shm")
ROOM_BYTES = 8 << 30
ATTEMPTS = 20


@functools.cache
def own_mounts() -> tuple[str, ...]:
    """The words before a command that give it mounts of its own; empty where that is not allowed."""
    if not shutil.which("unshare"):
        return ()
    for prefix in (("unshare", "--mount"), ("unshare", "--map-root-user", "--mount")):
        trial = (*prefix, "mount", "-t", "tmpfs", LABEL, str(SHARED_MEMORY))
        if subprocess.run(trial, capture_output=True, check=False).returncode == 0:
            return prefix
    return ()


def mount_tmpfs(where: Path, size: int, mode: str = "1777") -> None:
    subprocess.run(("mount", "-t", "tmpfs", "-o", f"size={size},mode={mode}", LABEL, str(where)), check=True)


def remount_tmpfs(where: Path, option: str) -> None:
    # With its source named, `mount` does not repeat the owner that it reads, an id that is unknown in a namespace.
    subprocess.run(("mount", "-o", f"remount,{option}", LABEL, str(where)), check=True)


def leave_free(where: Path, free_bytes: int) -> None:
    """Makes a tmpfs as small as what it holds and this much more, and does so again where others wrote meanwhile."""
    for attempt in range(ATTEMPTS):
        seen = os.statvfs(where)
        used = max(1, seen.f_blocks - seen.f_bfree) * seen.f_frsize  # 0 would be: no limit
        try:
            remount_tmpfs(where, f"size={used + free_bytes}")
        except subprocess.CalledProcessError:  # it holds more than that by now
            if attempt + 1 == ATTEMPTS:
                raise
            continue
        seen = os.statvfs(where)
        if seen.f_bavail * seen.f_frsize <= free_bytes:
            return


def unmount(where: Path) -> None:
    """Or nothing, where nothing is mounted."""
    if where.is_mount():
        subprocess.run(("umount", str(where)), check=True)


def isolate(module: str, argv: list[str]) -> bool:
    """Whether /dev/shm and /tmp are empty ones of our own now. Where they can be, the module is run again with them;
    `--own-mounts` among its arguments says that this was done."""
    if "--own-mounts" in argv:
        for where in (SHARED_MEMORY, Path("/tmp")):
            mount_tmpfs(where, ROOM_BYTES)
        return True
    if prefix := own_mounts():
        os.execvp(prefix[0], (*prefix, sys.executable, "-m", module, *argv, "--own-mounts"))  # noqa: S606
    return False
