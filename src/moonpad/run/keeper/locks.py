"""Locks that name their holder. They are the kernel's (flock), so a lock ends with its holder, however that ends."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from pathlib import Path

from moonpad.store.atomic_files import read_json

NAMED_S = 1.0  # within which the holder of a lock has written who it is


def take_lock(
    path: str, holder: dict[str, object], mode: int = 0o600, former: dict[str, object] | None = None
) -> int | None:
    """The descriptor of the lock, or None where another process holds it.

    `former` gets what a holder left that ended without releasing it. Raises OSError where the file cannot be made.
    """
    while True:
        handle = _open_lock(path, mode)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        # The holder before us unlinks the file when it ends: a lock on a deleted file keeps no one out.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                if former is not None:
                    former.update(read_holder(path))
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
    """Who holds the lock, for those that come too late. A full disk leaves it without a name, and still locked."""
    with contextlib.suppress(OSError):
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(holder).encode(), 0)


def read_holder(path: str) -> dict[str, object]:
    return read_json(Path(path)) or {}


def await_holder(path: str) -> dict[str, object]:
    """Who holds a lock that is held. The name is written just after the lock is taken; on a full disk it cannot be."""
    until = time.monotonic() + NAMED_S
    while not (holder := read_holder(path)) and time.monotonic() < until:
        time.sleep(0.01)
    return holder


def release_lock(path: str, handle: int) -> None:
    try:
        os.unlink(path)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, 0)  # another user's file, taken over: it cannot be removed, and is left without a name
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


def release_claim_folder(path: str) -> None:
    """Removes the folder of a claim where the claim was its last."""
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(path))
