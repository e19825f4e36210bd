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
