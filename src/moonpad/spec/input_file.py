"""The one way in which a file that others wrote is read: a regular file, and no more of it than is plausible.

Every failure is an OSError whose `strerror` completes "FILE cannot be read: …". Standard library only, Python ≥ 3.9:
the keeper takes this file to other hosts.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import time
from pathlib import Path
from typing import BinaryIO, Final

PIECE_BYTES: Final = 1 << 20
PIPE_S: Final = 10.0
"""How long the other end of a pipe may take for all that it sends."""

_HANDLES: Final = (Path("/dev/fd"), Path("/proc/self/fd"))
_KINDS: Final = (
    (stat.S_ISDIR, errno.EISDIR, "a folder"),
    (stat.S_ISFIFO, errno.EINVAL, "a named pipe"),
    (stat.S_ISSOCK, errno.EINVAL, "a socket"),
    (stat.S_ISCHR, errno.EINVAL, "a device"),
    (stat.S_ISBLK, errno.EINVAL, "a device"),
)


def open_regular(path: Path, most_bytes: int | None = None) -> BinaryIO:
    """The opened file, of at most that size. No pipe is waited for, and a device is not even opened."""
    try:
        require_regular(path.stat(), path, most_bytes)
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except ValueError:  # a NUL, or half of a surrogate pair
        raise OSError(errno.EINVAL, "no file can have that name", str(path)) from None
    try:
        require_regular(os.fstat(handle), path, most_bytes)  # what lay there may have been replaced
    except OSError:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def read_regular(path: Path, most_bytes: int) -> bytes:
    """The whole of a regular file of at most that size."""
    with open_regular(path, most_bytes) as file:
        pieces, left = [], most_bytes + 1
        while piece := file.read(min(PIECE_BYTES, left)):
            pieces.append(piece)
            left -= len(piece)
    if not left:  # it grows, or says nothing of its size
        raise _too_large(path, most_bytes, "more bytes than it says")
    return b"".join(pieces)


def read_input(path: Path, most_bytes: int) -> bytes:
    """As `read_regular`; also the standard input as `-`, and a pipe that the shell hands over, as of `<(command)`."""
    if str(path) == "-":
        return _read_handle(0, most_bytes, path)
    if path.parent not in _HANDLES and path != Path("/dev/stdin"):
        return read_regular(path, most_bytes)
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        return _read_handle(handle, most_bytes, path)
    finally:
        os.close(handle)


def _read_handle(handle: int, most_bytes: int, path: Path) -> bytes:
    """What comes until the writers close it. A person at a terminal has all the time in the world."""
    within_s = None if os.isatty(handle) else PIPE_S
    pieces: list[bytes] = []
    left, began_s = most_bytes + 1, time.monotonic()
    while left:
        ready, _, _ = select.select([handle], [], [], within_s and max(0.0, began_s + within_s - time.monotonic()))
        if not ready:
            raise OSError(errno.ETIMEDOUT, f"its writer had not ended it after {within_s:g} s", str(path))
        piece = os.read(handle, min(PIECE_BYTES, left))
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        left -= len(piece)
    raise _too_large(path, most_bytes, "more")


def require_regular(about: os.stat_result, path: Path, most_bytes: int | None = None) -> None:
    """Raises OSError where it is something else, or larger."""
    if stat.S_ISREG(about.st_mode):
        if most_bytes is not None and about.st_size > most_bytes:
            raise _too_large(path, most_bytes, f"{about.st_size:,} bytes")
        return
    number, kind = next(((number, kind) for test, number, kind in _KINDS if test(about.st_mode)), (errno.EINVAL, "odd"))
    raise OSError(number, f"it is {kind}, not a regular file", str(path))


def _too_large(path: Path, most_bytes: int, size: str) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {most_bytes:,} bytes: it has {size}", str(path))
