"""Downloads a repository: what is right already stays, what was begun goes on, and every file is checked by its digest
before it gets its name. Fault 23.

Killed at any moment, the next run loses at most hub.CHUNK_BYTES of each file that was being written.
"""

from __future__ import annotations

import errno
import fcntl
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO, Final, cast

import httpx2

from moonpad.checkpoints.digest_check import DigestMemory, Stopped
from moonpad.checkpoints.digests import digest_of
from moonpad.checkpoints.hub import Hub, RemoteFile, Repository
from moonpad.checkpoints.places import Places
from moonpad.facts.disk import disk
from moonpad.facts.probe import Unknown
from moonpad.spec.input_file import open_regular
from moonpad.values.errors import CheckpointError, PreflightRefused
from moonpad.values.finding import Code, Finding, Severity
from moonpad.values.units import gib

WORKERS: Final = 8
ATTEMPTS: Final = 4
"""In a row that bring nothing; each has the retries of http_get within it."""
POLL_S: Final = 0.25
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)


class Download:
    """One repository into one place. `pause(seconds)` waits between attempts."""

    def __init__(
        self,
        hub: Hub,
        repository: Repository,
        places: Places,
        kept: DigestMemory,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._hub, self._repository, self._places, self._kept, self._pause = hub, repository, places, kept, pause
        self._stop = threading.Event()
        self._finished: set[str] = set()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Raises PreflightRefused while another moonpad downloads to the same place."""
        lock = self._places.lock
        lock.parent.mkdir(parents=True, exist_ok=True)
        with lock.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                message = f"another download to {self._places.folder} is running"
                raise PreflightRefused(message, remedy="wait for it, or stop it: this one would resume it") from None
            except OSError:  # a file system without locks: the digests decide
                pass
            yield

    def missing(self, each: Callable[[int], None] = lambda count: None) -> tuple[RemoteFile, ...]:
        """The files that are not in their place with the right digest. `each` gets bytes as they are looked at, from
        any thread."""

        def look(count: int) -> None:
            if self._stop.is_set():
                raise Stopped
            each(count)

        files = self._repository.files
        with ThreadPoolExecutor(min(WORKERS, os.cpu_count() or 1)) as pool:
            try:
                right = list(pool.map(lambda file: self._is_right(file, look), files))
            except BaseException:
                self._stop.set()
                pool.shutdown(cancel_futures=True)
                raise
        return tuple(file for file, is_right in zip(files, right, strict=True) if not is_right)

    def _is_right(self, file: RemoteFile, each: Callable[[int], None]) -> bool:
        path, method = self._places.final(file), file.digest.method
        try:
            with open_regular(path) as opened:
                at = os.fstat(opened.fileno())
                if at.st_size != file.size_bytes:
                    return False
                found = self._kept.find(path.resolve(), method, at)
                if found == file.digest.hexadecimal:
                    each(file.size_bytes)
                else:
                    found = digest_of(opened, at.st_size, method, each)
                    self._kept.keep(path.resolve(), method, at, found)
        except OSError:
            return False
        if found == file.digest.hexadecimal:
            self._places.finish(file)
            return True
        return False

    def require_room(self, missing: tuple[RemoteFile, ...]) -> None:
        """Raises PreflightRefused where the disk has not room for what is still to come."""
        needed = sum(file.size_bytes for file in missing) - self.present_bytes(missing)
        room = disk(self._places.folder)
        if not isinstance(room, Unknown) and room.free_bytes < needed:
            raise self._no_room(needed, room.free_bytes)

    def present_bytes(self, files: tuple[RemoteFile, ...]) -> int:
        """Of files that were missing when the download began, how much is there by now."""
        total = 0
        for file in files:
            if file.name in self._finished:
                total += file.size_bytes
                continue
            with suppress(OSError):
                total += min(self._places.part(file).stat().st_size, file.size_bytes)
        return total

    def fetch(self, missing: tuple[RemoteFile, ...], show: Callable[[int], None] = lambda done: None) -> None:
        """Downloads the files, several at a time. `show` gets the bytes that are there, a few times a second.

        Raises:
            PreflightRefused: the disk is full. What is there stays, and the next run goes on.
            CheckpointError: the hub fails, or serves a file with a wrong digest twice.
        """
        same_part: dict[Path, list[RemoteFile]] = {}  # a cache holds files of equal content once
        for file in sorted(missing, key=lambda file: file.size_bytes):
            same_part.setdefault(self._places.part(file), []).append(file)
        todo: queue.SimpleQueue[list[RemoteFile]] = queue.SimpleQueue()
        for files in same_part.values():
            todo.put(files)
        failures: list[Exception] = []

        def work() -> None:
            try:
                while not self._stop.is_set():
                    first, *others = todo.get_nowait()
                    self._fetch_file(first)
                    for file in others:
                        self._places.finish(file)
                        self._finished.add(file.name)
            except (queue.Empty, Stopped):
                pass
            except Exception as error:  # noqa: BLE001 - a thread's edge: it is raised by the caller
                failures.append(error)
                self._stop.set()

        # Daemons, so that Ctrl-C need not wait for a slow link: what is on the disk is all that counts.
        threads = [threading.Thread(target=work, daemon=True) for _ in range(min(WORKERS, len(same_part)))]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads) and not failures:
                threads[0].join(POLL_S) if threads[0].is_alive() else time.sleep(POLL_S)
                show(self.present_bytes(missing))
        finally:
            self._stop.set()
        if failures:
            raise self._explained(failures[0], missing)
        show(sum(file.size_bytes for file in missing))

    def _fetch_file(self, file: RemoteFile) -> None:
        wrong = barren = 0
        most = self._size_of_part(file)
        while True:
            try:
                self._append(file)
            except (httpx2.HTTPError, OSError) as error:
                if isinstance(error, OSError) and error.errno is not None:
                    raise  # of this machine, not of the hub
                has = self._size_of_part(file)
                most, barren = (has, 0) if has > most else (most, barren + 1)
                if has > file.size_bytes:  # more came than was promised
                    self._places.part(file).unlink()
                failure = self._hub.explain(error, self._repository.id, self._repository.commit)
                if barren == ATTEMPTS or type(failure) is CheckpointError:
                    raise CheckpointError(f"{file.name}: {failure.message}", remedy=failure.remedy) from None
                self._pause(2.0**barren)
                continue
            found = self._digest(file)
            if found == file.digest.hexadecimal:
                return self._finish(file, found)
            self._places.part(file).unlink()
            if (wrong := wrong + 1) == 2:
                raise _wrong_digest(file, found)

    def _append(self, file: RemoteFile) -> None:
        part = self._places.part(file)
        part.parent.mkdir(parents=True, exist_ok=True)
        if self._size_of_part(file) > file.size_bytes:
            part.unlink()
        opened = part.open("ab")
        try:
            self._hub.fetch(self._repository, file, cast(BinaryIO, _Stoppable(opened, self._stop)), opened.tell())
            opened.flush()
            os.fsync(opened.fileno())  # else a power loss leaves a file of the right size with nothing in it
        finally:
            with suppress(OSError):  # a full disk, said already
                opened.close()

    def _digest(self, file: RemoteFile) -> str:
        def go_on(count: int) -> None:
            if self._stop.is_set():
                raise Stopped

        with self._places.part(file).open("rb") as opened:
            return digest_of(opened, file.size_bytes, file.digest.method, go_on)

    def _finish(self, file: RemoteFile, digest: str) -> None:
        final = self._places.final(file)
        final.parent.mkdir(parents=True, exist_ok=True)
        self._places.part(file).replace(final)
        self._finished.add(file.name)
        self._kept.keep(final.resolve(), file.digest.method, final.stat(), digest)
        self._places.finish(file)

    def _size_of_part(self, file: RemoteFile) -> int:
        try:
            return self._places.part(file).stat().st_size
        except FileNotFoundError:
            return 0

    def _explained(self, error: Exception, missing: tuple[RemoteFile, ...]) -> Exception:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            room = disk(self._places.folder)
            needed = sum(file.size_bytes for file in missing) - self.present_bytes(missing)
            return self._no_room(needed, 0 if isinstance(room, Unknown) else room.free_bytes)
        return error

    def _no_room(self, needed: int, free: int) -> PreflightRefused:
        folder = self._places.folder
        message = f"{needed} bytes ({gib(needed)}) are still to come, and {free} ({gib(free)}) are free"
        finding = Finding(Severity.ERROR, Code.DISK_LOW, str(folder), message, "free some space, or name another --out")
        summary = f"the disk of {folder} has no room for {self._repository.id}"
        return PreflightRefused(summary, remedy="what is there stays; the same command resumes", findings=(finding,))


class _Stoppable:
    """A file that http_get writes to, until the download is to stop."""

    def __init__(self, file: BinaryIO, stop: threading.Event) -> None:
        self._file, self._stop = file, stop

    def write(self, data: bytes) -> int:
        if self._stop.is_set():
            raise Stopped
        return self._file.write(data)

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


def _wrong_digest(file: RemoteFile, found: str) -> CheckpointError:
    message = f"has {file.digest.method} {found}; expected {file.digest.hexadecimal}, by the hub"
    remedy = "use another mirror, or none: unset HF_ENDPOINT"
    finding = Finding(Severity.ERROR, Code.CHECKPOINT_INCOMPLETE, file.name, message, remedy)
    return CheckpointError(f"{file.name} came twice with a wrong digest", findings=(finding,))


def selected(repository: Repository, patterns: tuple[str, ...]) -> Repository:
    """With the files that a pattern of the shell means; all where there is none. Raises CheckpointError for nothing."""
    chosen = tuple(
        file for file in repository.files if not patterns or any(fnmatchcase(file.name, each) for each in patterns)
    )
    if not chosen:
        raise CheckpointError(f"no file of {repository.id} matches {' or '.join(patterns)}", remedy="see its page")
    return Repository(repository.id, repository.commit, chosen)
