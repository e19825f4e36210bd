"""One process at a time works on an environment. The lock is `flock`: it ends with its holder, however that ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from moonpad.environments.cancellation import Cancellation
from moonpad.spec.input_file import read_regular
from moonpad.values.errors import PreflightRefused

POLL_S: Final = 0.1


@contextmanager
def locked(path: Path, cancellation: Cancellation, on_wait: Callable[[str], None] | None = None) -> Iterator[int]:
    """The descriptor that holds the lock. `on_wait` gets the holder once while we wait.

    Raises:
        PreflightRefused: another process holds it, and there is no `on_wait`.
        Interrupted: the user cancelled while waiting.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = _take(path)
    if handle is None:
        if on_wait is None:
            raise PreflightRefused(f"{holder(path)} is working on it", remedy="wait until it has ended")
        on_wait(holder(path))
    while handle is None:
        cancellation.raise_if_requested()
        time.sleep(POLL_S)
        handle = _take(path)
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield handle
    finally:
        os.close(handle)


def holder(path: Path) -> str:
    """Who holds the lock, by the pid that it wrote there."""
    try:
        pid = int(read_regular(path, 64))
        os.kill(pid, 0)
    except ProcessLookupError:
        return f"a process that pid {pid} left running"
    except PermissionError:
        return f"pid {pid} of another user"
    except (OSError, ValueError):
        return "another process"
    return f"pid {pid}"


def _take(path: Path) -> int | None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        with suppress(BlockingIOError, FileNotFoundError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # `remove` deletes the file while it holds it: a lock on a deleted file excludes no other process.
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None
