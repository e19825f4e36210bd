"""Every file of a checkpoint against its digest, several at a time. What was computed is kept, so that a check that
was stopped goes on where it was: faults 21 and 25.

Kept is a digest for the path, size and time of change of a file. A disk that loses a bit changes none of them, so
`fresh` computes all again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from moonpad.checkpoints.digests import Digest, digest_of
from moonpad.checkpoints.files import open_inside
from moonpad.checkpoints.weights import FETCH
from moonpad.values.errors import CheckpointError
from moonpad.values.finding import Code, Finding, Severity

WORKERS: Final = 8
"""A local disk is at its full speed with fewer; storage over a network needs several readers."""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """`found` is empty where the file is missing or cannot be read; `kept` where an earlier check computed it."""

    name: str
    size_bytes: int
    expected: Digest
    found: str
    kept: bool = False

    @property
    def is_right(self) -> bool:
        return self.found == self.expected.hexadecimal


@dataclass(frozen=True, slots=True)
class DigestCheck:
    """`read_bytes` of this check took `elapsed_s`; what was kept was not read."""

    files: tuple[CheckedFile, ...]
    findings: tuple[Finding, ...]
    read_bytes: int
    elapsed_s: float

    @property
    def bytes_per_s(self) -> float:
        return self.read_bytes / self.elapsed_s if self.elapsed_s else 0.0


class DigestMemory(Protocol):
    """Digests of earlier checks (store/kept_digests.py)."""

    def find(self, path: Path, method: str, at: os.stat_result) -> str | None: ...

    def keep(self, path: Path, method: str, at: os.stat_result, digest: str) -> None: ...


class Stopped(Exception):
    """The check was told to end."""


def check_digests(
    folder: Path,
    known: Mapping[str, Digest],
    kept: DigestMemory,
    each: Callable[[int], None] = lambda count: None,
    *,
    fresh: bool = False,
) -> DigestCheck:
    """Of every file that has a known digest. `each` gets the bytes that were read or need not be read, from any thread.

    Ctrl-C ends the threads within a piece; the digests of finished files are kept.
    """
    stop = threading.Event()
    begun = time.monotonic()
    read = [0]
    lock = threading.Lock()

    def count(size: int) -> None:
        if stop.is_set():
            raise Stopped
        with lock:
            read[0] += size
        each(size)

    def check(name: str) -> CheckedFile | Finding:
        try:
            return check_file(folder, name, known[name], kept, count, each, fresh=fresh)
        except FileNotFoundError:
            return _wrong(name, "is missing")
        except CheckpointError as error:
            return _wrong(name, error.message)
        except OSError as error:
            return _wrong(name, f"cannot be read: {error.strerror}")

    with ThreadPoolExecutor(min(WORKERS, os.cpu_count() or 1)) as pool:
        try:
            results = list(pool.map(check, sorted(known)))
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    files = tuple(result for result in results if isinstance(result, CheckedFile))
    broken = tuple(result for result in results if isinstance(result, Finding))
    findings = broken + tuple(_mismatch(file) for file in files if not file.is_right)
    return DigestCheck(files, findings, read[0], time.monotonic() - begun)


def check_file(
    folder: Path,
    name: str,
    expected: Digest,
    kept: DigestMemory,
    count: Callable[[int], None],
    skip: Callable[[int], None] = lambda count: None,
    *,
    fresh: bool = False,
) -> CheckedFile:
    """One file. `count` gets bytes as they are read, `skip` those that need not be. Raises as `open_inside` does."""
    file, size_bytes = open_inside(folder, name)
    with file:
        path, before = (folder / name).resolve(), os.fstat(file.fileno())
        earlier = None if fresh else kept.find(path, expected.method, before)
        if earlier == expected.hexadecimal:
            skip(size_bytes)
            return CheckedFile(name, size_bytes, expected, earlier, kept=True)
        digest = digest_of(file, size_bytes, expected.method, count)
        after = os.fstat(file.fileno())
    if (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns):
        kept.keep(path, expected.method, after, digest)
    return CheckedFile(name, size_bytes, expected, digest)


def _mismatch(file: CheckedFile) -> Finding:
    expected = f"{file.expected.method} {file.expected.hexadecimal}, by {file.expected.source}"
    return _wrong(file.name, f"has {file.expected.method} {file.found}; expected {expected}")


def _wrong(name: str, message: str) -> Finding:
    return Finding(Severity.ERROR, Code.CHECKPOINT_INCOMPLETE, name, message, FETCH)
