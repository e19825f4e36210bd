"""Bounds the engine's log while the engine itself writes it. `engine.log.1` is the part before `engine.log`."""

from __future__ import annotations

import contextlib
import os

LOG_BYTES = 64 << 20
LOG_HEAD_BYTES = 1 << 20
LOGS_KEPT = 3


def _shift_parts(log: str) -> None:
    """Makes room at LOG.1; the oldest part goes."""
    for number in range(LOGS_KEPT - 1, 0, -1):
        with contextlib.suppress(OSError):
            os.replace(f"{log}.{number}", f"{log}.{number + 1}")


def renew_log(log: str) -> None:
    """For a new generation, when no process writes to it any more."""
    with contextlib.suppress(OSError):
        if os.path.getsize(log) > 0:
            _shift_parts(log)
            os.replace(log, f"{log}.1")
        os.unlink(f"{log}.head")


def bound_log(log: str, limit_bytes: int) -> int | None:
    """Moves the content of a log that has outgrown the limit to LOG.1, while its writers go on (they append, so they
    go on at the start). The first MiB of a generation is kept as LOG.head. Returns how many bytes were lost between
    the copy and the cut, or because the disk is full; None where there was nothing to do."""
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
        _shift_parts(log)
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
